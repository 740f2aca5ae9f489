/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving the items of a pipeline: classes, a recorded file, arrivals.
 *
 * What a file says of items takes the place of laws: the law of a class is then the mean of its
 * rows, for those who reckon with means (bounds, a scheduler that knows nothing better).
 */
#include "sim/scenario/resolve/resolve.h"

#include "workloads/items.h"

#include <math.h>
#include <string.h>

/* ---- classes ---- */

static void normalise(struct sim_resolver *resolver, const struct draft_input *draft,
                      struct sim_input *input)
{
    double sum = 0;
    for (size_t i = 0; i < input->classes_count; i++)
        sum += input->classes[i].weight;
    for (size_t i = 0; i < input->classes_count && sum > 0; i++)
        input->classes[i].weight /= sum;
    if (sum <= 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "classes"),
                         "all weights are 0");
}

static void resolve_classes(struct sim_resolver *resolver, struct draft_input *draft,
                            struct sim_input *input)
{
    const struct draft_class *classes = draft->classes.items;
    input->classes_count = draft->classes.count > 0 ? draft->classes.count : 1;
    input->classes = sim_arena_alloc(resolver->arena, input->classes_count, sizeof *input->classes);
    if (draft->classes.count == 0) {
        const struct sim_law *given = draft->size;
        struct sim_law *one = given == NULL ? sim_resolve_constant(resolver, "const(1)") : NULL;
        input->classes[0] =
            (struct sim_item_class){ .name = sim_arena_copy(resolver->arena, "item"),
                                     .weight = 1,
                                     .size = given == NULL ? one : draft->size,
                                     .items = 1,
                                     .priority = SIM_ABSENT_COUNT };
        if (!input->recorded.has_sizes)
            draft->size = input->classes[0].size;
        return;
    }
    if (draft->size != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "size"),
                         "has no meaning beside classes, which have sizes of their own");
    for (size_t i = 0; i < draft->classes.count; i++) {
        input->classes[i] = classes[i].to;
        input->classes[i].name = classes[i].head.name;
        if (input->classes[i].items == 0)
            input->classes[i].items = 1; /* only requests of a service may count for more */
    }
    normalise(resolver, draft, input);
}

/* ---- the file ---- */

static const char **class_names(struct sim_resolver *resolver, const struct draft_input *draft)
{
    const struct draft_class *classes = draft->classes.items;
    const char **names = sim_arena_alloc(resolver->arena, draft->classes.count + 1, sizeof *names);
    for (size_t i = 0; i < draft->classes.count; i++)
        names[i] = classes[i].head.name == NULL ? "" : classes[i].head.name;
    return names;
}

static void take_rows(struct sim_resolver *resolver, const struct wl_items *items,
                      struct sim_recorded *recorded)
{
    *recorded = (struct sim_recorded){ .count = items->count,
                                       .has_times = items->has[WL_ITEM_TIME],
                                       .has_sizes = items->has[WL_ITEM_SIZE],
                                       .has_classes = items->has[WL_ITEM_CLASS],
                                       .has_bytes = items->has[WL_ITEM_BYTES] };
    recorded->rows = sim_arena_alloc(resolver->arena, items->count, sizeof *recorded->rows);
    for (size_t i = 0; i < items->count; i++)
        recorded->rows[i] = (struct sim_item_row){ .at_ns = items->items[i].at_ns,
                                                   .size = items->items[i].size,
                                                   .bytes = items->items[i].bytes,
                                                   .item_class = items->items[i].item_class };
}

/* Classes that only the file names. */
static void take_classes(struct sim_resolver *resolver, const struct wl_items *items,
                         struct sim_input *input)
{
    struct sim_law *size = input->classes[0].size;
    input->classes_count = items->class_count;
    input->classes = sim_arena_alloc(resolver->arena, items->class_count, sizeof *input->classes);
    for (size_t i = 0; i < items->class_count; i++)
        input->classes[i] =
            (struct sim_item_class){ .name = sim_arena_copy(resolver->arena, items->classes[i]),
                                     .weight = 1,
                                     .size = size,
                                     .items = 1,
                                     .priority = SIM_ABSENT_COUNT };
}

static struct sim_law *mean_law(struct sim_resolver *resolver, double sum, double count)
{
    return sim_resolve_constant(
        resolver, sim_arena_printf(resolver->arena, "const(%.17g)", count > 0 ? sum / count : 1));
}

/* Of the items that come, weights and means as the file has them. */
static void take_means(struct sim_resolver *resolver, struct sim_input *input)
{
    const struct sim_recorded *recorded = &input->recorded;
    double *size = sim_arena_alloc(resolver->arena, input->classes_count, sizeof *size);
    double *count = sim_arena_alloc(resolver->arena, input->classes_count, sizeof *count);
    double all_size = 0;
    double bytes = 0;
    for (size_t i = 0; i < input->items; i++) {
        size[recorded->rows[i].item_class] += recorded->rows[i].size;
        count[recorded->rows[i].item_class]++;
        all_size += recorded->rows[i].size;
        bytes += recorded->rows[i].bytes;
    }
    for (size_t c = 0; c < input->classes_count; c++) {
        if (recorded->has_classes)
            input->classes[c].weight = count[c] / (double)input->items;
        if (recorded->has_sizes && recorded->has_classes)
            input->classes[c].size = mean_law(resolver, size[c], count[c]);
        else if (recorded->has_sizes)
            input->classes[c].size = mean_law(resolver, all_size, (double)input->items);
    }
    if (recorded->has_bytes)
        input->bytes = mean_law(resolver, bytes, (double)input->items);
}

/* What the file says is not said again. A class has a weight and a size in every canonical text:
 * the defaults pass. */
static void refuse_said(struct sim_resolver *resolver, const struct draft_input *draft,
                        const struct sim_recorded *recorded)
{
    static const char says[] = "is said by the file already, in its column '%s'";
    const struct draft_class *classes = draft->classes.items;
    struct sim_report *report = resolver->report;
    if (recorded->has_bytes && draft->to.bytes != NULL)
        sim_report_error(report, sim_draft_at(&draft->head, "bytes_per_item"), says, "bytes");
    if (recorded->has_sizes && draft->size != NULL)
        sim_report_error(report, sim_draft_at(&draft->head, "size"), says, "size");
    for (size_t i = 0; i < draft->classes.count; i++) {
        const struct sim_law *size = classes[i].to.size;
        if (recorded->has_sizes && size != NULL && strcmp(size->text, "const(1)") != 0)
            sim_report_error(report, sim_draft_at(&classes[i].head, "size"), says, "size");
        if (recorded->has_classes && fabs(classes[i].to.weight - 1) > 0)
            sim_report_error(report, sim_draft_at(&classes[i].head, "weight"), says, "class");
    }
}

static void read_file(struct sim_resolver *resolver, struct draft_input *draft,
                      struct wl_items *items)
{
    struct weir_error error = { .phase = -1 };
    const struct wl_items_options options = { .limits = resolver->limits,
                                              .path = sim_resolve_data_path(resolver, draft->file),
                                              .classes = class_names(resolver, draft),
                                              .class_count = draft->classes.count };
    if (wl_items_read(&options, items, &error) != WEIR_OK)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "file"), "%s", error.text);
}

static void use_file(struct sim_resolver *resolver, const struct draft_input *draft,
                     const struct wl_items *items, struct sim_input *input)
{
    if (input->items > items->count)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "items"),
                         "the file has %zu rows", items->count);
    if (input->items == 0 || input->items > items->count)
        input->items = items->count;
    if (draft->classes.count == 0 && items->class_count > 0)
        take_classes(resolver, items, input);
    take_means(resolver, input);
}

/* ---- arrivals ---- */

/* A bare law stays one in the canonical text: only what was said is filled in. */
static void resolve_arrivals(struct sim_resolver *resolver, struct draft_input *draft,
                             struct sim_input *input)
{
    struct draft_arrivals *given = &draft->arrivals;
    struct draft_arrivals bare = *given;
    const bool has_times = input->recorded.has_times;
    bare.load = given->load = (double)NAN;
    bare.is_of_items = given->is_of_items = true;
    if (given->head.node == NULL && !has_times)
        return;
    const bool is_bare = given->to.kind == SIM_ABSENT_COUNT && given->to.gap != NULL;
    struct draft_arrivals *used = is_bare ? &bare : given;
    if (is_bare)
        used->to.kind = SIM_ARRIVALS_RENEWAL;
    else if (used->to.kind == SIM_ABSENT_COUNT)
        used->to.kind =
            has_times && isnan(used->to.rate_per_s) ? SIM_ARRIVALS_TRACE : SIM_ARRIVALS_POISSON;
    input->arrivals = sim_arena_alloc(resolver->arena, 1, sizeof *input->arrivals);
    sim_resolve_arrivals(resolver, used, input->arrivals);
    if (used->to.kind != SIM_ARRIVALS_TRACE)
        return;
    if (!has_times && draft->file == NULL)
        sim_report_error(resolver->report, given->head.node,
                         "needs a file with a column `time` (input.file)");
    else if (!has_times && input->recorded.count > 0)
        sim_report_error(resolver->report, given->head.node, "the file has no column 'time'");
    else if (has_times)
        input->arrivals->rate_per_s = input->arrivals->scale * (double)input->items /
                                      (1e-9 * (double)input->recorded.rows[input->items - 1].at_ns);
}

void sim_resolve_input(struct sim_resolver *resolver, struct draft_input *draft,
                       struct sim_input *input)
{
    struct wl_items items = { .items = NULL };
    *input = draft->to;
    if (input->items == UINT64_MAX)
        input->items = 0;
    if (draft->file != NULL)
        read_file(resolver, draft, &items);
    if (items.count > 0)
        take_rows(resolver, &items, &input->recorded);
    refuse_said(resolver, draft, &input->recorded);
    resolve_classes(resolver, draft, input);
    if (items.count > 0)
        use_file(resolver, draft, &items, input);
    resolve_arrivals(resolver, draft, input);
    wl_items_clear(&items);
}
