/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading plug-ins (see plugin.h). A name that a built-in has already is refused. */
#include "sim/cli/plugin.h"

#include "sim/cli/isolate.h"
#include "sim/cli/options.h"
#include "sim/port/command_policy.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One function a kind: appends a policy whose name is free. */
#define ADD_POLICY(kind, list)                                                                     \
    static weir_status add_##kind(struct sim_policies *policies,                                   \
                                  const struct weir_##kind##_ops *ops, struct weir_error *error)   \
    {                                                                                              \
        for (size_t i = 0; i < policies->list##_count; i++)                                        \
            if (strcmp(policies->list[i]->name, ops->name) == 0)                                   \
                return weir_fail(error, WEIR_EDUPLICATE, "a " #kind " policy '%s' exists already", \
                                 ops->name);                                                       \
        const struct weir_##kind##_ops **grown =                                                   \
            reallocarray(policies->list, policies->list##_count + 1, sizeof ops);                  \
        if (grown == NULL)                                                                         \
            return weir_fail(error, WEIR_ENOMEM, "out of memory");                                 \
        grown[policies->list##_count++] = ops;                                                     \
        policies->list = grown;                                                                    \
        return WEIR_OK;                                                                            \
    }

ADD_POLICY(placement, placements)
ADD_POLICY(scaling, scalings)
ADD_POLICY(queueing, queueings)

static weir_status add_module(struct sim_policies *policies, const struct weir_module *module,
                              struct weir_error *error)
{
    WEIR_TRY(weir_module_check(module, error));
    for (size_t i = 0; module->placements != NULL && module->placements[i] != NULL; i++)
        WEIR_TRY(add_placement(policies, module->placements[i], error));
    for (size_t i = 0; module->scalings != NULL && module->scalings[i] != NULL; i++)
        WEIR_TRY(add_scaling(policies, module->scalings[i], error));
    const struct weir_queueing_ops *const *queueings = weir_module_queueings(module);
    for (size_t i = 0; queueings != NULL && queueings[i] != NULL; i++)
        WEIR_TRY(add_queueing(policies, queueings[i], error));
    return WEIR_OK;
}

static weir_status load(const char *path, struct sim_policies *policies, struct weir_error *error)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return weir_fail(error, WEIR_EIO, "%s", dlerror());
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
    return add_module(policies, entry(), error);
}

/* ---- the first look, in a process of its own ---- */

enum { PROBE_TIMEOUT_S = 10 };

struct probe {
    const char *path;
    struct weir_error *error; /* shared with the child */
};

static int probe_child(void *state)
{
    const struct probe *probe = state;
    struct sim_policies copy = { 0 };
    return load(probe->path, &copy, probe->error) == WEIR_OK ? 0 : 1;
}

/* A file whose mere loading crashes or hangs must not take the program with it. */
static weir_status probe(const char *path, struct weir_error *error)
{
    char message[SIM_ISOLATE_MESSAGE] = "";
    struct weir_error *box =
        mmap(NULL, sizeof(*box), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (box == MAP_FAILED)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    struct probe question = { .path = path, .error = box };
    const int answer = sim_isolate_call(probe_child, &question, PROBE_TIMEOUT_S, message);
    weir_status status = WEIR_OK;
    if (answer < 0)
        status = weir_fail(error, WEIR_EPOLICY, "while it was being loaded: %s", message);
    else if (answer > 0)
        status = weir_fail(error, WEIR_EPOLICY, "%s", box->text);
    (void)munmap(box, sizeof(*box));
    return status;
}

int sim_plugins_load(const struct sim_words *paths, struct sim_policies *policies)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = WEIR_OK;
    *policies = (struct sim_policies){ 0 };
    for (uint32_t i = 0; i < weir_placement_count() && status == WEIR_OK; i++)
        status = add_placement(policies, weir_placement_at(i), &error);
    for (uint32_t i = 0; i < weir_scaling_count() && status == WEIR_OK; i++)
        status = add_scaling(policies, weir_scaling_at(i), &error);
    if (status == WEIR_OK)
        status = add_scaling(policies, &sim_command_scaling, &error);
    for (uint32_t i = 0; i < weir_queueing_count() && status == WEIR_OK; i++)
        status = add_queueing(policies, weir_queueing_at(i), &error);
    for (size_t i = 0; i < paths->count && status == WEIR_OK; i++) {
        status = probe(paths->items[i], &error);
        if (status == WEIR_OK)
            status = load(paths->items[i], policies, &error);
        if (status != WEIR_OK)
            weir_error_wrap(&error, "--plugin %s", paths->items[i]);
    }
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    sim_plugins_clear(policies);
    return SIM_EXIT_POLICY;
}

void sim_plugins_clear(struct sim_policies *policies)
{
    free(policies->placements);
    free(policies->scalings);
    free(policies->queueings);
    *policies = (struct sim_policies){ 0 };
}
