/* NVTX: marks and ranges for profilers, which do nothing here. Events and strings are accepted and dropped. */
#ifndef HEDDLE_NVTX_H
#define HEDDLE_NVTX_H
#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceRegistration_st *nvtxResourceHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN, NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, NVTX_PAYLOAD_TYPE_INT64, NVTX_PAYLOAD_TYPE_DOUBLE,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, NVTX_PAYLOAD_TYPE_INT32, NVTX_PAYLOAD_TYPE_FLOAT
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t { const char *ascii; const wchar_t *unicode; nvtxStringHandle_t registered; } nvtxMessageValue_t;
typedef struct nvtxEventAttributes_t {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union { uint64_t ullValue; int64_t llValue; double dValue; uint32_t uiValue; int32_t iValue; float fValue; } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

static __inline__ void nvtxInitialize(const void *p) { (void)p; }
static __inline__ void nvtxMarkA(const char *s) { (void)s; }
static __inline__ void nvtxMarkW(const wchar_t *s) { (void)s; }
static __inline__ void nvtxMarkEx(const nvtxEventAttributes_t *a) { (void)a; }
static __inline__ nvtxRangeId_t nvtxRangeStartA(const char *s) { (void)s; return 1; }
static __inline__ nvtxRangeId_t nvtxRangeStartW(const wchar_t *s) { (void)s; return 1; }
static __inline__ nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *a) { (void)a; return 1; }
static __inline__ void nvtxRangeEnd(nvtxRangeId_t r) { (void)r; }
static __inline__ int nvtxRangePushA(const char *s) { (void)s; return 0; }
static __inline__ int nvtxRangePushW(const wchar_t *s) { (void)s; return 0; }
static __inline__ int nvtxRangePushEx(const nvtxEventAttributes_t *a) { (void)a; return 0; }
static __inline__ int nvtxRangePop(void) { return 0; }
static __inline__ void nvtxNameCategoryA(uint32_t c, const char *s) { (void)c, (void)s; }
static __inline__ void nvtxNameOsThreadA(uint32_t t, const char *s) { (void)t, (void)s; }
static __inline__ nvtxDomainHandle_t nvtxDomainCreateA(const char *s) { (void)s; return 0; }
static __inline__ void nvtxDomainDestroy(nvtxDomainHandle_t d) { (void)d; }
static __inline__ nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t d, const char *s) { (void)d, (void)s; return 0; }
static __inline__ void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { (void)d, (void)a; }
static __inline__ nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { (void)d, (void)a; return 1; }
static __inline__ void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t r) { (void)d, (void)r; }
static __inline__ int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { (void)d, (void)a; return 0; }
static __inline__ int nvtxDomainRangePop(nvtxDomainHandle_t d) { (void)d; return 0; }
#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#endif
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA

#endif
