// Counters of what ran: for the whole process, and by pipeline.
#pragma once

#include <stdint.h>

struct sm_pipeline_stats; // lives as long as the process; pipelines of the same name share it

struct sm_pipeline_stats * sm_pipeline_stats(const char * name);

const char * sm_pipeline_stats_name(const struct sm_pipeline_stats * pipeline);

void sm_stats_add_command_buffer(void);
void sm_stats_add_dispatch(struct sm_pipeline_stats * pipeline, uint64_t threadgroups, uint64_t ns);
