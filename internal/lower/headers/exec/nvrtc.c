/* NVRTC. Heddle compiles, in its own process. What a program gets as machine code is PTX text as well, which is what
   heddle loads. */
#include "../cuda/nvrtc.h"

struct _nvrtcProgram { char *name, *source, *ptx, *log; size_t ptx_size, log_size; };

const char *nvrtcGetErrorString(nvrtcResult r) {
  static const char *const names[] = {
      "NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "NVRTC_ERROR_INTERNAL_ERROR"};
  return (unsigned)r < sizeof names / sizeof *names ? names[r] : "NVRTC_ERROR unknown";
}
nvrtcResult nvrtcVersion(int *major, int *minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = 12, *minor = 0;
  return NVRTC_SUCCESS;
}
static const int architectures[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
nvrtcResult nvrtcGetNumSupportedArchs(int *n) {
  if (!n) return NVRTC_ERROR_INVALID_INPUT;
  *n = sizeof architectures / sizeof *architectures;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int *to) {
  if (!to) return NVRTC_ERROR_INVALID_INPUT;
  memcpy(to, architectures, sizeof architectures);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *to, const char *source, const char *name, int n,
                               const char *const *headers, const char *const *names) {
  (void)headers, (void)names;
  if (!to || !source || n < 0) return NVRTC_ERROR_INVALID_INPUT;
  if (n) {
    heddle_unsupported("nvrtcCreateProgram with headers");
    return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
  }
  struct _nvrtcProgram *p = need(calloc(1, sizeof *p));
  p->name = need(strdup(name && *name ? name : "default_program.cu")), p->source = need(strdup(source));
  p->log = need(calloc(1, 1)), p->log_size = 1;
  *to = p;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *p) {
  if (!p || !*p) return NVRTC_ERROR_INVALID_PROGRAM;
  free((*p)->name), free((*p)->source), free((*p)->ptx), free((*p)->log), free(*p);
  *p = NULL;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n, const char *const *options) {
  if (!p || n < 0 || (n && !options)) return NVRTC_ERROR_INVALID_INPUT;
  if (heddle_enter() != cudaSuccess) return NVRTC_ERROR_INTERNAL_ERROR;
  size_t size = strlen(p->name) + strlen(p->source) + 2, at = 0;
  for (int i = 0; i < n; i++) size += strlen(options[i]) + 1;
  char *text = need(malloc(size));
  for (int i = -2; i < n; i++) { /* each with its NUL */
    const char *part = i == -2 ? p->name : i == -1 ? p->source : options[i];
    size_t k = strlen(part) + 1;
    memcpy(text + at, part, k), at += k;
  }
  uint32_t reply[3] = {0, 0, 0};
  lock();
  struct part message = {text, size};
  ask(HEDDLE_OP_COMPILE, &message, 1, reply, sizeof reply);
  char *both = need(malloc((size_t)reply[1] + reply[2] + 2));
  ask(HEDDLE_OP_COMPILED, NULL, 0, both, (size_t)reply[1] + reply[2]);
  unlock();
  free(text), free(p->ptx), free(p->log);
  p->ptx = need(calloc(1, reply[1] + 1)), p->ptx_size = reply[1] + 1;
  p->log = need(calloc(1, reply[2] + 1)), p->log_size = reply[2] + 1;
  memcpy(p->ptx, both, reply[1]), memcpy(p->log, both + reply[1], reply[2]);
  free(both);
  return (nvrtcResult)reply[0];
}

static nvrtcResult result_size(nvrtcProgram p, size_t *n) {
  if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!n || p->ptx_size < 2) return NVRTC_ERROR_INVALID_INPUT;
  *n = p->ptx_size;
  return NVRTC_SUCCESS;
}
static nvrtcResult result(nvrtcProgram p, char *to) {
  size_t n;
  nvrtcResult r = result_size(p, &n);
  if (r == NVRTC_SUCCESS && !to) r = NVRTC_ERROR_INVALID_INPUT;
  if (r == NVRTC_SUCCESS) memcpy(to, p->ptx, n);
  return r;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *n) { return result_size(p, n); }
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *to) { return result(p, to); }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *n) { return result_size(p, n); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *to) { return result(p, to); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *n) {
  if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
  *n = p->log_size;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *to) {
  if (!p) return NVRTC_ERROR_INVALID_PROGRAM;
  memcpy(to, p->log, p->log_size);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram p, const char *name) {
  (void)p, (void)name;
  heddle_unsupported("nvrtcAddNameExpression; declare the kernel extern \"C\"");
  return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram p, const char *name, const char **to) {
  (void)p, (void)name, (void)to;
  return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
