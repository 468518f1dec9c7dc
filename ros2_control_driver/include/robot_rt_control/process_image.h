/* The process image of a device: shared memory between its driver and the real-time executor.
 *
 * Written by `python -m robot_rt_control.hardware.image_header`; do not edit it. The protocol: docs/foreign_drivers.md.
 * Behind the structure follow `manifest_size` bytes of JSON, which name the numbers of `state` and `command`. */
#ifndef ROBOT_RT_CONTROL__PROCESS_IMAGE_H_
#define ROBOT_RT_CONTROL__PROCESS_IMAGE_H_

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RRC_IMAGE_VERSION 2
#define RRC_IMAGE_MAGIC UINT64_C(0x5254494d41474531)
#define RRC_IMAGE_LAYOUT UINT64_C(0x6cfbef4cb1ba91bc)
#define RRC_MAX_JOINTS 16
#define RRC_MAX_PARTS 64
#define RRC_MAX_DEVICE_INTERFACES 2048

enum rrc_command_mode {
    RRC_MODE_NONE = 0,
    RRC_MODE_POSITION = 1,
    RRC_MODE_VELOCITY = 2,
    RRC_MODE_EFFORT = 3,
};

enum rrc_driver_mode {
    RRC_DRIVER_FOLLOWING = 0,
    RRC_DRIVER_BRAKING = 1,
    RRC_DRIVER_HOLDING = 2,
};

enum rrc_image_error {
    RRC_ERROR_NONE = 0,
    RRC_ERROR_DEVICE = 1,
    RRC_ERROR_EXECUTOR_SILENT = 2,
    RRC_ERROR_MODE_REFUSED = 3,
    RRC_ERROR_DRIVER_ENDING = 4,
    RRC_ERROR_INACTIVE = 5,
    RRC_ERROR_STOPPED = 6,
};

typedef struct rrc_device_image {
    uint64_t magic;
    uint64_t layout;
    int64_t epoch;
    int64_t driver_pid;
    int64_t manifest_size;
    int64_t executor_pid;
    int64_t n_state;
    int64_t n_command;
    int64_t n_parts;
    int64_t driver_mode;
    int64_t is_clock;
    int64_t wants_bell;
    int64_t late_cycles;
    int64_t unanswered_cycles;
    char driver_reason[256];
    int32_t state_bell[2];
    int64_t state_time_ns;
    int64_t state_sequence;
    int64_t state_cycle;
    int64_t state_error;
    double state[2048];
    int64_t command_sequence;
    int64_t command_cycle;
    int64_t command_state_cycle;
    int32_t command_bell[2];
    int64_t command_clears;
    int64_t command_enable;
    int64_t command_mode[64];
    double command[2048];
} rrc_device_image;
static_assert(offsetof(rrc_device_image, magic) == 0, "rrc_device_image.magic");
static_assert(offsetof(rrc_device_image, layout) == 8, "rrc_device_image.layout");
static_assert(offsetof(rrc_device_image, epoch) == 16, "rrc_device_image.epoch");
static_assert(offsetof(rrc_device_image, driver_pid) == 24, "rrc_device_image.driver_pid");
static_assert(offsetof(rrc_device_image, manifest_size) == 32, "rrc_device_image.manifest_size");
static_assert(offsetof(rrc_device_image, executor_pid) == 40, "rrc_device_image.executor_pid");
static_assert(offsetof(rrc_device_image, n_state) == 48, "rrc_device_image.n_state");
static_assert(offsetof(rrc_device_image, n_command) == 56, "rrc_device_image.n_command");
static_assert(offsetof(rrc_device_image, n_parts) == 64, "rrc_device_image.n_parts");
static_assert(offsetof(rrc_device_image, driver_mode) == 72, "rrc_device_image.driver_mode");
static_assert(offsetof(rrc_device_image, is_clock) == 80, "rrc_device_image.is_clock");
static_assert(offsetof(rrc_device_image, wants_bell) == 88, "rrc_device_image.wants_bell");
static_assert(offsetof(rrc_device_image, late_cycles) == 96, "rrc_device_image.late_cycles");
static_assert(offsetof(rrc_device_image, unanswered_cycles) == 104, "rrc_device_image.unanswered_cycles");
static_assert(offsetof(rrc_device_image, driver_reason) == 112, "rrc_device_image.driver_reason");
static_assert(offsetof(rrc_device_image, state_bell) == 368, "rrc_device_image.state_bell");
static_assert(offsetof(rrc_device_image, state_time_ns) == 376, "rrc_device_image.state_time_ns");
static_assert(offsetof(rrc_device_image, state_sequence) == 384, "rrc_device_image.state_sequence");
static_assert(offsetof(rrc_device_image, state_cycle) == 392, "rrc_device_image.state_cycle");
static_assert(offsetof(rrc_device_image, state_error) == 400, "rrc_device_image.state_error");
static_assert(offsetof(rrc_device_image, state) == 408, "rrc_device_image.state");
static_assert(offsetof(rrc_device_image, command_sequence) == 16792, "rrc_device_image.command_sequence");
static_assert(offsetof(rrc_device_image, command_cycle) == 16800, "rrc_device_image.command_cycle");
static_assert(offsetof(rrc_device_image, command_state_cycle) == 16808, "rrc_device_image.command_state_cycle");
static_assert(offsetof(rrc_device_image, command_bell) == 16816, "rrc_device_image.command_bell");
static_assert(offsetof(rrc_device_image, command_clears) == 16824, "rrc_device_image.command_clears");
static_assert(offsetof(rrc_device_image, command_enable) == 16832, "rrc_device_image.command_enable");
static_assert(offsetof(rrc_device_image, command_mode) == 16840, "rrc_device_image.command_mode");
static_assert(offsetof(rrc_device_image, command) == 17352, "rrc_device_image.command");
static_assert(sizeof(rrc_device_image) == 33736, "size of rrc_device_image");

#endif /* ROBOT_RT_CONTROL__PROCESS_IMAGE_H_ */
