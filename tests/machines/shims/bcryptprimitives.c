/* bcryptprimitives.dll, which Wine 8 lacks: Rust's programs take random bytes from it.

   x86_64-w64-mingw32-gcc -shared -O2 -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32
*/

unsigned char __stdcall SystemFunction036(void *buffer, unsigned long length);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *buffer, unsigned long long length)
{
    while (length) {
        unsigned long part = length > 65536 ? 65536 : (unsigned long)length;
        if (!SystemFunction036(buffer, part)) return 0;
        buffer += part, length -= part;
    }
    return 1;
}
