/* A whole program for ATmega328P under simavr: steps the sequences of data.h and prints, by the serial port, the bits
   of the answers and the cycles of the step. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#include "data.h"
#include "pump.h"

static void put_char(char c) {
  while (!(UCSR0A & (1 << UDRE0))) {
  }
  UDR0 = (uint8_t)c;
}

static void put_number(uint32_t value) {
  char text[11];
  int i = 0;
  do text[i++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  while (i > 0) put_char(text[--i]);
}

int main(void) {
  UCSR0B = 1 << TXEN0;
  TCCR1B = 1; /* Timer 1 counts cycles */
  pump_state state;
  for (int s = 0; s < SEQUENCES; ++s) {
    pump_init(&state);
    for (int t = 0; t < STEPS; ++t) {
      union {
        uint32_t bits;
        float value;
      } both = {data[s][t]};
      const float x[1] = {both.value};
      float y[PUMP_OUTPUTS];
      TCNT1 = 0;
      pump_step(&state, x, y);
      const uint16_t cycles = TCNT1;
      put_char('=');
      for (int o = 0; o < PUMP_OUTPUTS; ++o) {
        put_char(' ');
        both.value = y[o];
        for (int i = 28; i >= 0; i -= 4) put_char("0123456789abcdef"[(both.bits >> i) & 15]);
      }
      put_char(' ');
      put_number(cycles);
      put_char('\n');
    }
  }
  cli();
  sleep_mode();
  return 0;
}
