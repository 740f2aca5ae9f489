/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in an order that a policy can walk; see jobs_index.h. */
#include "sched/host/jobs_index.h"

#include "sched/host/jobs.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"

/* ---- orders ---- */

static bool ends_before(const struct weir_jobs *jobs, uint32_t left, uint32_t right)
{
    const struct weir_job_record *const a = &jobs->records[left];
    const struct weir_job_record *const b = &jobs->records[right];
    const int64_t a_ns = jobs->places[left].end_ns;
    const int64_t b_ns = jobs->places[right].end_ns;

    if (a_ns != b_ns)
        return a_ns < b_ns;
    return a->workload != b->workload ? a->workload < b->workload : a->id < b->id;
}

/* Both are of one tree, or were a moment ago. */
static bool is_before(const struct weir_jobs *jobs, const uint32_t *root, uint32_t left,
                      uint32_t right)
{
    return root == &jobs->running_root ? ends_before(jobs, left, right)
                                       : weir_jobs_is_before(jobs, left, right);
}

/* ---- trees ---- */

static int64_t least_of(const struct weir_jobs *jobs, uint32_t record)
{
    return record == WEIR_NO_INDEX ? INT64_MAX : jobs->places[record].least_ns;
}

static void sum_up(struct weir_jobs *jobs, uint32_t record)
{
    struct weir_index_place *const place = &jobs->places[record];
    const int64_t left_ns = least_of(jobs, place->left);
    const int64_t right_ns = least_of(jobs, place->right);
    const int64_t below_ns = left_ns < right_ns ? left_ns : right_ns;

    place->least_ns = below_ns < place->left_ns ? below_ns : place->left_ns;
}

/* One tree of two, of which all of `left` comes before all of `right`. As deep as they are. */
static uint32_t join(struct weir_jobs *jobs, uint32_t left, uint32_t right)
{
    if (left == WEIR_NO_INDEX || right == WEIR_NO_INDEX)
        return left == WEIR_NO_INDEX ? right : left;
    if (jobs->places[left].draw > jobs->places[right].draw) {
        jobs->places[left].right = join(jobs, jobs->places[left].right, right);
        sum_up(jobs, left);
        return left;
    }
    jobs->places[right].left = join(jobs, left, jobs->places[right].left);
    sum_up(jobs, right);
    return right;
}

/* Two trees of one: what comes before `record`, and the rest. */
static void split(struct weir_jobs *jobs, const uint32_t *root, uint32_t at, uint32_t record)
{
    uint32_t *const before = &jobs->places[record].left;
    uint32_t *const behind = &jobs->places[record].right;

    if (at == WEIR_NO_INDEX) {
        *before = *behind = WEIR_NO_INDEX;
    } else if (is_before(jobs, root, at, record)) {
        split(jobs, root, jobs->places[at].right, record);
        jobs->places[at].right = *before;
        sum_up(jobs, at);
        *before = at;
    } else {
        split(jobs, root, jobs->places[at].left, record);
        jobs->places[at].left = *behind;
        sum_up(jobs, at);
        *behind = at;
    }
}

static void insert(struct weir_jobs *jobs, const uint32_t *root, uint32_t *at, uint32_t record)
{
    if (*at != WEIR_NO_INDEX && jobs->places[*at].draw >= jobs->places[record].draw) {
        struct weir_index_place *const place = &jobs->places[*at];
        insert(jobs, root, is_before(jobs, root, record, *at) ? &place->left : &place->right,
               record);
        sum_up(jobs, *at);
        return;
    }
    split(jobs, root, *at, record);
    *at = record;
    sum_up(jobs, record);
}

static void extract(struct weir_jobs *jobs, const uint32_t *root, uint32_t *at, uint32_t record)
{
    if (*at == WEIR_NO_INDEX)
        return;
    struct weir_index_place *const place = &jobs->places[*at];
    if (*at == record) {
        *at = join(jobs, place->left, place->right);
        return;
    }
    extract(jobs, root, is_before(jobs, root, record, *at) ? &place->left : &place->right, record);
    sum_up(jobs, *at);
}

/* ---- jobs ---- */

static uint32_t *root_of(struct weir_jobs *jobs, uint32_t record)
{
    const struct weir_job_record *const job = &jobs->records[record];

    return job->state == WEIR_JOB_WAITING ? &jobs->kinds[job->kind].root : &jobs->running_root;
}

weir_status weir_jobs_reserve_index(struct weir_jobs *jobs)
{
    if (!jobs->is_indexed)
        return WEIR_OK;
    WEIR_ROOM(&jobs->allocator, jobs->places, jobs->place_capacity, jobs->record_count + 1);
    for (; jobs->place_count <= jobs->record_count; jobs->place_count++)
        jobs->places[jobs->place_count] = (struct weir_index_place){ 0 };
    return WEIR_OK;
}

void weir_jobs_index_put(struct weir_jobs *jobs, uint32_t record)
{
    if (!jobs->is_indexed)
        return;
    struct weir_job job = { .size = sizeof job };
    weir_jobs_index_drop(jobs, record);
    weir_jobs_describe(jobs, record, &job);
    jobs->places[record] = (struct weir_index_place){
        .left = WEIR_NO_INDEX,
        .right = WEIR_NO_INDEX,
        .draw = (uint32_t)(weir_hash_add(jobs->records[record].seed, record) >> 32),
        .is_there = 1,
        .left_ns = weir_job_left_ns(&job),
        .end_ns = job.state == WEIR_JOB_WAITING ? INT64_MAX : weir_job_end_ns(&job, INT64_MIN)
    };
    uint32_t *const root = root_of(jobs, record);
    insert(jobs, root, root, record);
}

void weir_jobs_index_drop(struct weir_jobs *jobs, uint32_t record)
{
    if (!jobs->is_indexed || jobs->places[record].is_there == 0)
        return;
    uint32_t *const root = root_of(jobs, record);
    extract(jobs, root, root, record);
    jobs->places[record].is_there = 0;
}

void weir_jobs_index_renew(struct weir_jobs *jobs, uint32_t kind)
{
    struct weir_job_kind *const queue = &jobs->kinds[kind];

    if (!jobs->is_indexed)
        return;
    queue->root = WEIR_NO_INDEX;
    for (uint32_t i = 0; i < queue->count; i++)
        jobs->places[queue->heap[i]].is_there = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        weir_jobs_index_put(jobs, queue->heap[i]);
}

void weir_jobs_free_index(struct weir_jobs *jobs)
{
    weir_free(&jobs->allocator, jobs->places);
    jobs->places = NULL;
    jobs->place_count = jobs->place_capacity = 0;
    jobs->is_indexed = false;
}

weir_status weir_jobs_index(struct weir_jobs *jobs, bool is_kept)
{
    if (!is_kept || jobs->is_indexed) {
        if (!is_kept)
            weir_jobs_free_index(jobs);
        return WEIR_OK;
    }
    jobs->is_indexed = true;
    if (weir_jobs_reserve_index(jobs) != WEIR_OK) {
        jobs->is_indexed = false;
        return WEIR_ENOMEM;
    }
    jobs->running_root = WEIR_NO_INDEX;
    for (uint32_t k = 0; k < jobs->kind_count; k++)
        weir_jobs_index_renew(jobs, k);
    for (uint32_t r = 0; r < jobs->record_count; r++)
        if (jobs->records[r].is_used != 0 && jobs->records[r].state != WEIR_JOB_WAITING)
            weir_jobs_index_put(jobs, r);
    return WEIR_OK;
}

/* ---- questions ---- */

bool weir_jobs_ends_at(const struct weir_jobs *jobs, uint32_t record, int64_t time_ns)
{
    return jobs->is_indexed && jobs->places[record].end_ns == time_ns;
}

/* Whether a waiting job comes behind one that may be known no more. */
static bool is_behind(const struct weir_jobs *jobs, uint32_t at, const struct weir_job *after)
{
    const struct weir_job_record *const job = &jobs->records[at];

    if (job->key < after->key || job->key > after->key)
        return job->key > after->key;
    if (job->submit_ns != after->submit_ns)
        return job->submit_ns > after->submit_ns;
    return job->workload != after->workload ? job->workload > after->workload : job->id > after->id;
}

/* The first below `at` that comes behind `after` and has at most `most_ns` left. Where all come
 * behind it, `least_ns` says which way to go; elsewhere there is one way. */
static uint32_t first_behind(const struct weir_jobs *jobs, uint32_t at,
                             const struct weir_job *after, int64_t most_ns)
{
    if (at == WEIR_NO_INDEX || jobs->places[at].least_ns > most_ns)
        return WEIR_NO_INDEX;
    const struct weir_index_place *const place = &jobs->places[at];
    if (after != NULL && !is_behind(jobs, at, after))
        return first_behind(jobs, place->right, after, most_ns);
    const uint32_t found = first_behind(jobs, place->left, after, most_ns);
    if (found != WEIR_NO_INDEX)
        return found;
    return place->left_ns <= most_ns ? at : first_behind(jobs, place->right, NULL, most_ns);
}

uint32_t weir_jobs_find_waiting(const struct weir_jobs *jobs,
                                const struct weir_waiting_query *query)
{
    uint32_t first = WEIR_NO_INDEX;

    if (!jobs->is_indexed)
        return WEIR_NO_INDEX;
    if (query->kind != WEIR_NO_INDEX)
        return query->kind < jobs->kind_count && jobs->kinds[query->kind].is_aside == 0
                   ? first_behind(jobs, jobs->kinds[query->kind].root, query->after, query->most_ns)
                   : WEIR_NO_INDEX;
    for (uint32_t i = 0; i < jobs->front_count; i++) {
        const uint32_t found =
            first_behind(jobs, jobs->kinds[jobs->front[i]].root, query->after, query->most_ns);
        if (found != WEIR_NO_INDEX &&
            (first == WEIR_NO_INDEX || weir_jobs_is_before(jobs, found, first)))
            first = found;
    }
    return first;
}

uint32_t weir_jobs_next_running(const struct weir_jobs *jobs, const struct weir_job *after)
{
    const uint32_t last =
        after == NULL ? WEIR_NO_INDEX : weir_jobs_find(jobs, after->workload, after->id);
    uint32_t found = WEIR_NO_INDEX;

    if (!jobs->is_indexed || (after != NULL && last == WEIR_NO_INDEX))
        return WEIR_NO_INDEX;
    const uint32_t below = last == WEIR_NO_INDEX ? WEIR_NO_INDEX : jobs->places[last].right;
    for (uint32_t at = below; at != WEIR_NO_INDEX; at = jobs->places[at].left)
        found = at;
    if (found != WEIR_NO_INDEX)
        return found;
    for (uint32_t at = jobs->running_root; at != WEIR_NO_INDEX;) {
        const bool is_behind = last == WEIR_NO_INDEX || ends_before(jobs, last, at);
        if (is_behind)
            found = at;
        at = is_behind ? jobs->places[at].left : jobs->places[at].right;
    }
    return found;
}

/* ---- the invariant ---- */

/* Counts what is below `at`, in order; `last` is the one before. */
static uint32_t count_sound(const struct weir_jobs *jobs, const uint32_t *root, uint32_t at,
                            uint32_t *last)
{
    if (at == WEIR_NO_INDEX)
        return 0;
    const struct weir_index_place *const place = &jobs->places[at];
    const int64_t left_ns = least_of(jobs, place->left);
    const int64_t right_ns = least_of(jobs, place->right);
    const int64_t below_ns = left_ns < right_ns ? left_ns : right_ns;
    uint32_t count = count_sound(jobs, root, place->left, last);

    if ((*last == WEIR_NO_INDEX || is_before(jobs, root, *last, at)) && place->is_there != 0 &&
        place->least_ns == (below_ns < place->left_ns ? below_ns : place->left_ns))
        count++;
    *last = at;
    return count + count_sound(jobs, root, place->right, last);
}

weir_status weir_jobs_check_index(const struct weir_jobs *jobs, struct weir_error *error)
{
    const uint32_t placed = jobs->counts[WEIR_JOB_STARTING] + jobs->counts[WEIR_JOB_RUNNING];
    uint32_t last = WEIR_NO_INDEX;

    if (!jobs->is_indexed)
        return WEIR_OK;
    if (count_sound(jobs, &jobs->running_root, jobs->running_root, &last) != placed)
        return weir_fail(error, WEIR_EINVARIANT, "the %u jobs that run are not in order", placed);
    for (uint32_t k = 0; k < jobs->kind_count; k++) {
        const struct weir_job_kind *const kind = &jobs->kinds[k];
        last = WEIR_NO_INDEX;
        if (count_sound(jobs, &kind->root, kind->root, &last) != kind->count)
            return weir_fail(error, WEIR_EINVARIANT,
                             "the %u waiting jobs of kind %u are not in "
                             "order",
                             kind->count, k);
    }
    return WEIR_OK;
}
