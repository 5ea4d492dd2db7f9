/* The complex functions of Windows' C library, which Wine 8 lacks and NumPy needs.

   Windows' compiler has no complex type: there a complex number is a structure of two.
   MinGW's own functions compute; test_windows.py adds all others by a .def file, which
   hands them on to Wine's library.
*/

#include <complex.h>

typedef struct { double re, im; } Double;
typedef struct { float re, im; } Float;

static double complex from(Double z) { return __builtin_complex(z.re, z.im); }
static float complex fromf(Float z) { return __builtin_complex(z.re, z.im); }
static Double to(double complex z) { return (Double){creal(z), cimag(z)}; }
static Float tof(float complex z) { return (Float){crealf(z), cimagf(z)}; }

#define COMPLEX(name) \
    Double shim_##name(Double z) { return to(name(from(z))); } \
    Float shim_##name##f(Float z) { return tof(name##f(fromf(z))); }
#define REAL(name) \
    double shim_##name(Double z) { return name(from(z)); } \
    float shim_##name##f(Float z) { return name##f(fromf(z)); }

COMPLEX(conj) COMPLEX(cproj) COMPLEX(csqrt) COMPLEX(cexp) COMPLEX(clog)
COMPLEX(csin) COMPLEX(ccos) COMPLEX(ctan) COMPLEX(casin) COMPLEX(cacos) COMPLEX(catan)
COMPLEX(csinh) COMPLEX(ccosh) COMPLEX(ctanh)
COMPLEX(casinh) COMPLEX(cacosh) COMPLEX(catanh)
REAL(creal) REAL(cimag) REAL(cabs) REAL(carg)

Double shim_cpow(Double a, Double b) { return to(cpow(from(a), from(b))); }
Float shim_cpowf(Float a, Float b) { return tof(cpowf(fromf(a), fromf(b))); }
