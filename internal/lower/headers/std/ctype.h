/* Used where the system has no C library headers. */
#ifndef HEDDLE_STD_CTYPE_H
#define HEDDLE_STD_CTYPE_H

extern "C" {
int isalnum(int); int isalpha(int); int isdigit(int); int islower(int); int isprint(int); int ispunct(int);
int isspace(int); int isupper(int); int isxdigit(int); int tolower(int); int toupper(int);
}

#endif
