// One conversion at a time, because the C library cannot be handed a list of arguments with objects in between.

#import <Foundation/Foundation.h>

#include "format.h"
#include "runtime.h"

struct arguments {
    va_list list;
};

enum { LONGEST = 64 }; // of a conversion

// Copies the conversion at *format, with numbers for its *, and moves behind it. Its last character.
static char take_conversion(const char ** format, struct arguments * arguments, char specification[LONGEST]) {
    const char * from   = *format;
    size_t       length = 0;

    do {
        if (*from == '*') {
            length += (size_t) snprintf(specification + length, 12, "%d", va_arg(arguments->list, int));
            from++;
        } else {
            specification[length++] = *from++;
        }
    } while (*from && strchr("0123456789-+ #.*hlqjzt", *from) && length < LONGEST - 16);
    *format = *from ? from + 1 : from;
    specification[length]     = *from;
    specification[length + 1] = 0;
    return *from;
}

static void print_conversion(FILE * out, const char ** format, struct arguments * arguments) {
    char       specification[LONGEST];
    const char conversion = take_conversion(format, arguments, specification);
    const bool is_long    = strpbrk(specification, "lqjzt") != NULL; // all of them have 64 bits

    switch (conversion) {
        case 'd':
        case 'i':
        case 'u':
        case 'o':
        case 'x':
        case 'X':
        case 'c':
            if (is_long) {
                fprintf(out, specification, va_arg(arguments->list, long));
            } else {
                fprintf(out, specification, va_arg(arguments->list, int));
            }
            break;
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            fprintf(out, specification, va_arg(arguments->list, double));
            break;
        case 's':
        case 'p':
            fprintf(out, specification, va_arg(arguments->list, void *));
            break;
        case '@': {
            id object = va_arg(arguments->list, id);

            fputs(object ? [[object description] UTF8String] : "(null)", out);
            break;
        }
        case '%':
            fputc('%', out);
            break;
        default:
            fputs(specification, out);
    }
}

char * objc_format(const char * format, va_list list) {
    struct arguments arguments;
    char *           text = NULL;
    size_t           size;
    FILE *           out = open_memstream(&text, &size);

    if (!out) {
        objc_raise("out of memory for a string");
    }
    va_copy(arguments.list, list);
    while (*format) {
        const size_t plain = strcspn(format, "%");

        fwrite(format, 1, plain, out);
        format += plain;
        if (*format) {
            print_conversion(out, &format, &arguments);
        }
    }
    va_end(arguments.list);
    if (fclose(out) != 0) {
        free(text);
        objc_raise("out of memory for a string");
    }
    return text;
}
