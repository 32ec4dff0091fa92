/* A whole program for Cortex-M under qemu: steps the sequences of data.h and prints the bits of the answers by
   semihosting. No variable is initialised, so nothing has to be copied at the start. */
#include "data.h"
#include "pump.h"

void reset(void);
__attribute__((section(".vectors"), used)) static const void* const vectors[2] = {(void*)0x20004000, (void*)reset};

static int semihosting(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void put_bits(uint32_t bits) {
  char text[10];
  for (int i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[(bits >> (28 - 4 * i)) & 15];
  text[8] = ' ';
  text[9] = '\0';
  semihosting(4, text);
}

static float as_float(uint32_t bits) {
  union {
    uint32_t bits;
    float value;
  } both = {bits};
  return both.value;
}

void reset(void) {
  pump_state state;
  for (int s = 0; s < SEQUENCES; ++s) {
    pump_init(&state);
    for (int t = 0; t < STEPS; ++t) {
      const float x[1] = {as_float(data[s][t])};
      float y[PUMP_OUTPUTS] = {0};
      __asm__ volatile("" : : "r"(x), "r"(y) : "memory");
#ifndef NO_STEP
      pump_step(&state, x, y);
#endif
      __asm__ volatile("" : : "r"(y) : "memory");
#ifndef QUIET
      for (int o = 0; o < PUMP_OUTPUTS; ++o) {
        union {
          float value;
          uint32_t bits;
        } both = {y[o]};
        put_bits(both.bits);
      }
      semihosting(4, "\n");
#else
      (void)put_bits;
#endif
    }
  }
  semihosting(0x18, (void*)0x20026); /* the application ends */
  for (;;) {
  }
}
