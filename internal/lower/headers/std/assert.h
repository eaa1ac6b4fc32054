/* Used where the system has no C library headers. assert may be redefined by each inclusion. */
#ifndef HEDDLE_STD_ASSERT_H
#define HEDDLE_STD_ASSERT_H

extern "C" void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((noreturn));
#endif
#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __PRETTY_FUNCTION__))

#endif
