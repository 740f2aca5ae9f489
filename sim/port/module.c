/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading modules, and the stand-ins for their policies (see module.h). */
#include "sim/port/module.h"

#include "sim/port/module_text.h"
#include "sim/port/policy_process.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DESCRIBE_TIMEOUT_S = 10 };

static weir_status refuse_source(const char *path, struct weir_error *error)
{
    const char *end = strrchr(path, '.');
    if (end != NULL && strcmp(end, ".c") == 0)
        return weir_fail(error, WEIR_EIO,
                         "a module is built from its source: gcc -std=c17 -O2 -shared -fPIC %s -o "
                         "%.*s.so",
                         path, (int)(end - path), path);
    if (end != NULL && strcmp(end, ".py") == 0)
        return weir_fail(error, WEIR_EIO,
                         "a program is no module: --set 'sched.scaling={policy: command, argv: "
                         "[python3, %s]}'",
                         path);
    return WEIR_OK;
}

weir_status sim_module_load(const char *path, const struct weir_module **module,
                            struct weir_error *error)
{
    WEIR_TRY(refuse_source(path, error));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return weir_fail(error, WEIR_EIO, "%s%s", dlerror(),
                         strchr(path, '/') == NULL && access(path, F_OK) == 0
                             ? "; one that lies here is ./FILE.so"
                             : "");
    /* POSIX lets a function pointer travel through void *; ISO C does not, hence the copy. */
    void *symbol = dlsym(library, WEIR_MODULE_SYMBOL);
    weir_module_entry entry = NULL;
    if (symbol == NULL && dlsym(library, WEIR_MODULE_SYMBOL_V1) != NULL)
        return weir_fail(error, WEIR_EABI,
                         "%s was built for interface version 1, this is version %d: build it anew "
                         "with the present headers, and let it export %s",
                         path, WEIR_ABI_MAJOR, WEIR_MODULE_SYMBOL);
    if (symbol == NULL)
        return weir_fail(error, WEIR_EABI, "%s exports no %s", path, WEIR_MODULE_SYMBOL);
    memcpy(&entry, &symbol, sizeof(entry));
    *module = entry();
    return weir_module_check(*module, error);
}

/* ---- stand-ins ---- */

/* They are told apart by these. No host that follows asks them for more than keys, which order what
 * it never walks over. */
static struct weir_score stand_in_score(void *state, const struct weir_place_query *query,
                                        const struct weir_alloc *candidate)
{
    (void)state;
    (void)query;
    (void)candidate;
    return (struct weir_score){ 0, 0 };
}

static weir_status stand_in_decide(void *state, const struct weir_view *view,
                                   struct weir_placer *placer, struct weir_plan *plan,
                                   struct weir_error *error)
{
    (void)state;
    (void)view;
    (void)placer;
    (void)plan;
    return weir_fail(error, WEIR_EINVARIANT, "it is in another process");
}

static double stand_in_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return (double)job->submit_ns;
}

static weir_status stand_in_supply(void *state, const struct weir_view *view,
                                   struct weir_plan *plan, struct weir_error *error)
{
    return stand_in_decide(state, view, NULL, plan, error);
}

struct sim_module {
    char *path;
    struct sim_module_text *text;
    struct weir_module policies;
};

void sim_module_destroy(struct sim_module *module)
{
    if (module == NULL)
        return;
    sim_module_text_destroy(module->text);
    free(module->path);
    free(module);
}

const struct weir_module *sim_module_policies(const struct sim_module *module)
{
    return &module->policies;
}

bool sim_placement_is_stand_in(const struct weir_placement_ops *ops)
{
    return ops != NULL && ops->score == stand_in_score;
}

bool sim_scaling_is_stand_in(const struct weir_scaling_ops *ops)
{
    return ops != NULL && ops->decide == stand_in_decide;
}

bool sim_queueing_is_stand_in(const struct weir_queueing_ops *ops)
{
    return ops != NULL && ops->key == stand_in_key;
}

bool sim_capacity_is_stand_in(const struct weir_capacity_ops *ops)
{
    return ops != NULL && ops->decide == stand_in_supply;
}

/* ---- describing ---- */

struct question {
    const char *path;
    struct sim_policy_process *process;
};

static int describe_main(void *state)
{
    const struct question *question = state;
    struct sim_line *line = &question->process->line;
    const struct weir_module *module = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    sim_policy_process_turn(question->process);
    if (sim_line_listen(line) != WEIR_OK)
        return 0;
    const int32_t status = sim_module_load(question->path, &module, &error);
    sim_line_speak(line);
    (void)sim_line_put(line, &status, sizeof status);
    if (status != WEIR_OK)
        (void)sim_line_put(line, &error, sizeof error);
    else
        (void)sim_module_text_put(line, module);
    (void)sim_line_pass(line);
    return 0;
}

/* What it says of itself; only what fits is believed. */
static weir_status hear(struct sim_policy_process *process, struct sim_module *module,
                        struct weir_error *error)
{
    bool is_heard = false;
    int32_t status = 0;
    WEIR_TRY(sim_line_pass(&process->line));
    WEIR_TRY(sim_line_get(&process->line, &status, sizeof status));
    if (status != WEIR_OK)
        return sim_policy_process_failure(process, WEIR_EABI, error, &is_heard);
    WEIR_TRY(sim_module_text_get(&process->line, module, &module->text));
    module->policies = *sim_module_text_policies(module->text);
    struct sim_stand_ins *all = sim_module_text_stand_ins(module->text);
    for (size_t i = 0; i < all->placement_count; i++)
        all->placements[i].ops.score = stand_in_score;
    for (size_t i = 0; i < all->scaling_count; i++)
        all->scalings[i].ops.decide = stand_in_decide;
    for (size_t i = 0; i < all->queueing_count; i++)
        all->queueings[i].ops.key = stand_in_key;
    for (size_t i = 0; i < all->capacity_count; i++)
        all->capacities[i].ops.decide = stand_in_supply;
    if (weir_module_check(&module->policies, error) != WEIR_OK)
        return WEIR_EABI;
    return WEIR_OK;
}

weir_status sim_module_describe(const char *path, struct sim_module **module,
                                struct weir_error *error)
{
    struct sim_policy_process process;
    struct question question = { path, &process };
    const struct sim_policy_work work = { .main = describe_main,
                                          .state = &question,
                                          .timeout_s = DESCRIBE_TIMEOUT_S };
    struct sim_module *made = calloc(1, sizeof *made);
    if (made == NULL || (made->path = strdup(path)) == NULL) {
        free(made);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    weir_status status = sim_policy_process_start(&process, &work, error);
    if (status == WEIR_OK)
        status = hear(&process, made, error);
    if (status == WEIR_EPOLICY) {
        (void)sim_policy_process_lost(&process, error);
        if (process.line.is_late) /* no option says how long that may take */
            (void)weir_fail(error, WEIR_EPOLICY, "it gave no answer within %d s, and was ended",
                            DESCRIBE_TIMEOUT_S);
        weir_error_wrap(error, "while it was being loaded");
    }
    sim_policy_process_stop(&process);
    if (status != WEIR_OK) {
        sim_module_destroy(made);
        return WEIR_EPOLICY;
    }
    *module = made;
    return WEIR_OK;
}

/* ---- what they stand in for ---- */

/* The policy at its place; another one there means that the file is another one now. */
#define LOAD_POLICY(kind, list)                                                                    \
    weir_status sim_##kind##_load(const struct weir_##kind##_ops **ops, struct weir_error *error)  \
    {                                                                                              \
        const struct weir_module *module = NULL;                                                   \
        uint32_t index = 0;                                                                        \
        if (!sim_##kind##_is_stand_in(*ops))                                                       \
            return WEIR_OK;                                                                        \
        const struct sim_##kind##_stand_in *stand_in = (const void *)*ops;                         \
        weir_status status = sim_module_load(stand_in->module->path, &module, error);              \
        if (status == WEIR_OK) {                                                                   \
            assert(module != NULL);                                                                \
            const struct weir_##kind##_ops *const *all = list;                                     \
            while (all != NULL && all[index] != NULL && index < stand_in->index)                   \
                index++;                                                                           \
            if (all == NULL || all[index] == NULL ||                                               \
                strcmp(all[index]->name, (*ops)->name) != 0 ||                                     \
                all[index]->param_count != (*ops)->param_count)                                    \
                status = weir_fail(error, WEIR_EPOLICY, "it says something else than before");     \
            else                                                                                   \
                *ops = all[index];                                                                 \
        }                                                                                          \
        if (status != WEIR_OK)                                                                     \
            weir_error_wrap(error, "module %s", stand_in->module->path);                           \
        return status == WEIR_OK ? WEIR_OK : WEIR_EPOLICY;                                         \
    }

LOAD_POLICY(placement, module->placements)
LOAD_POLICY(scaling, module->scalings)
LOAD_POLICY(queueing, weir_module_queueings(module))
LOAD_POLICY(capacity, weir_module_capacities(module))
