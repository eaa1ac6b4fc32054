/* NVML, as its documentation describes it: types and declarations. Under heddle exec each call says that there is no
   driver. */
#ifndef HEDDLE_NVML_H
#define HEDDLE_NVML_H
#pragma clang system_header
#include "../heddle/library/declare.h"

#define NVML_API_VERSION 12
#define NVML_DEVICE_NAME_BUFFER_SIZE 64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96
#define NVML_DEVICE_UUID_BUFFER_SIZE 80
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef enum {
  NVML_SUCCESS, NVML_ERROR_UNINITIALIZED, NVML_ERROR_INVALID_ARGUMENT, NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_NO_PERMISSION,
  NVML_ERROR_ALREADY_INITIALIZED, NVML_ERROR_NOT_FOUND, NVML_ERROR_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_POWER,
  NVML_ERROR_DRIVER_NOT_LOADED, NVML_ERROR_TIMEOUT, NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;
typedef enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_CLOCK_VIDEO } nvmlClockType_t;
typedef enum { NVML_TEMPERATURE_GPU } nvmlTemperatureSensors_t;
typedef enum { NVML_PSTATE_0, NVML_PSTATE_15 = 15, NVML_PSTATE_UNKNOWN = 32 } nvmlPstates_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned int gpu, memory; } nvmlUtilization_t;
#define nvmlClocksThrottleReasonGpuIdle 1ull
#define nvmlClocksThrottleReasonSwPowerCap 4ull
#define nvmlClocksThrottleReasonHwSlowdown 8ull
#define nvmlClocksThrottleReasonSwThermalSlowdown 32ull
#define nvmlClocksThrottleReasonHwThermalSlowdown 64ull
#define nvmlClocksThrottleReasonHwPowerBrakeSlowdown 128ull
#define nvmlClocksEventReasonSwPowerCap nvmlClocksThrottleReasonSwPowerCap
#define nvmlClocksEventReasonSwThermalSlowdown nvmlClocksThrottleReasonSwThermalSlowdown

#define __HEDDLE_CALL(NAME, PARAMETERS) __HEDDLE_DECLARE(nvmlReturn_t, NAME, PARAMETERS)
#include "../heddle/library/nvml.h"
#undef __HEDDLE_CALL
extern "C" const char *nvmlErrorString(nvmlReturn_t);

#endif
