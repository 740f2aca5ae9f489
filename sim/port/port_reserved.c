/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reservations in advance between scenario, host and meter: the host is told of them, and the meter
 * which nodes they have while they last. It is looked at when the host asked to be called, which it
 * does at both ends of each, and when a plan was made.
 */
#include "sim/port/port_state.h"

#include "weir/reservation.h"

#include "sim/record/meter/meter_reserved.h"

#include <stdlib.h>
#include <string.h>

/* What the meter was told last. */
struct sim_port_reserved {
    uint32_t *nodes;
    uint32_t count;
};

weir_status sim_port_add_reservations(const struct sim_port *port, struct weir_host *host,
                                      struct weir_error *error)
{
    const struct sim_scenario *scenario = port->config.scenario;
    for (size_t i = 0; i < scenario->reservations_count; i++) {
        const struct sim_reservation *reservation = &scenario->reservations[i];
        const struct weir_reservation_spec spec = { .size = sizeof(struct weir_reservation_spec),
                                                    .tenant = reservation->tenant,
                                                    .name = reservation->name,
                                                    .start_ns = reservation->start_ns,
                                                    .end_ns = reservation->end_ns,
                                                    .nodes = reservation->nodes,
                                                    .gpus = reservation->gpus,
                                                    .gpu_type = reservation->gpu_type };
        const weir_status status = weir_host_add_reservation(host, &spec, NULL, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "reservation %s", reservation->name);
            return status;
        }
    }
    return WEIR_OK;
}

/* The nodes of it that count now. */
static struct weir_reservation look_up(const struct weir_view *view, uint32_t number,
                                       int64_t now_ns)
{
    struct weir_reservation found = { .size = sizeof found };
    (void)weir_view_reservation(view, number, &found);
    if (now_ns < found.start_ns || now_ns >= found.end_ns)
        found.node_count = 0;
    return found;
}

static bool is_same(const struct sim_port_reserved *known, const struct weir_reservation *found)
{
    return known->count == found->node_count &&
           (known->count == 0 ||
            memcmp(known->nodes, found->nodes, known->count * sizeof *known->nodes) == 0);
}

static weir_status keep(struct sim_port_reserved *known, const struct weir_reservation *found)
{
    free(known->nodes);
    known->nodes = malloc((found->node_count + 1) * sizeof *known->nodes);
    known->count = 0;
    if (known->nodes == NULL)
        return WEIR_ENOMEM;
    if (found->node_count > 0)
        memcpy(known->nodes, found->nodes, found->node_count * sizeof *known->nodes);
    known->count = found->node_count;
    return WEIR_OK;
}

weir_status sim_port_note_reservations(struct sim_port *port)
{
    const size_t count = port->config.scenario->reservations_count;
    if (count == 0)
        return WEIR_OK;
    if (port->reserved == NULL)
        port->reserved = calloc(count, sizeof *port->reserved);
    if (port->reserved == NULL)
        return WEIR_ENOMEM;
    const int64_t now_ns = sim_engine_now(port->config.context->engine);
    const struct weir_view *view = weir_host_view(port->host, now_ns);
    for (size_t i = 0; i < count; i++) {
        const struct weir_reservation found = look_up(view, (uint32_t)i + 1, now_ns);
        if (is_same(&port->reserved[i], &found))
            continue;
        WEIR_TRY(keep(&port->reserved[i], &found));
        WEIR_TRY(sim_meter_reserved(port->config.context->meter, now_ns, i, found.nodes,
                                    found.node_count));
    }
    return WEIR_OK;
}

void sim_port_forget_reservations(struct sim_port *port)
{
    for (size_t i = 0; port->reserved != NULL && i < port->config.scenario->reservations_count; i++)
        free(port->reserved[i].nodes);
    free(port->reserved);
}
