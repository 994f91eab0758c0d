/** A picture's number is 16 bits and 4 that check them, in this many squares of a fortieth of its
 * width, at the top. */
const BITS = 20;
const ACROSS = 40;
const DARK = 32;
const BRIGHT = 224;

function checked(number) {
  return (number << 4) | ((number ^ (number >> 4) ^ (number >> 8) ^ (number >> 12)) & 15);
}

/** The number in a decoded picture of any size; undefined if it cannot be read. */
export function numberOf({ width, height, data }) {
  const size = width / ACROSS;
  if (size < 2 || size > height) return undefined;
  let bits = 0;
  for (let bit = 0; bit < BITS; bit += 1) {
    const at = Math.floor(size / 2) * width + Math.floor((bit + 0.5) * size);
    bits = (bits << 1) | (data[at] > (DARK + BRIGHT) / 2 ? 1 : 0);
  }
  const number = bits >> 4;
  return checked(number) === bits ? number : undefined;
}

/** A test picture that moves: detail that an encoder cannot drop, in I420. It is cheap: rows of one
 * large picture are copied. */
export class Picture {
  /** With `isNumbered` its number modulo 65 536 is written into each. */
  constructor(width, height, isNumbered = false) {
    // Chroma planes have half the size in each direction.
    if (width % 2 || height % 2) throw new Error('width and height are even');
    Object.assign(this, { width, height, isNumbered, frame: 0 });
    this.wide = width * 2;
    this.luma = new Uint8ClampedArray(this.wide * height * 2);
    // A generator of its own: every run sends the same pictures.
    let state = 1;
    const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    for (let y = 0; y < height * 2; y += 1) {
      for (let x = 0; x < this.wide; x += 1) {
        const tile = ((x >> 5) ^ (y >> 5)) & 1 ? 60 : 0;
        this.luma[y * this.wide + x] = 60 + tile + 40 * Math.sin(x / 23) * Math.cos(y / 17) + 24 * random();
      }
    }
    this.data = new Uint8ClampedArray((width * height * 3) / 2).fill(128);
  }

  /** The next picture, for `RTCVideoSource.onFrame`. Its memory is that of the one before. */
  next() {
    const { width, height, wide, luma, data } = this;
    // A path that takes a while to repeat.
    const left = Math.round((width / 2) * (1 + Math.sin(this.frame / 31)));
    const top = Math.round((height / 2) * (1 + Math.cos(this.frame / 47)));
    for (let y = 0; y < height; y += 1) {
      const from = (top + y) * wide + left;
      data.set(luma.subarray(from, from + width), y * width);
    }
    if (this.isNumbered) this.number();
    this.frame += 1;
    return { width, height, data };
  }

  number() {
    const { width, data } = this;
    const size = Math.floor(width / ACROSS);
    const bits = checked(this.frame & 0xffff);
    for (let bit = 0; bit < BITS; bit += 1) {
      const value = (bits >> (BITS - 1 - bit)) & 1 ? BRIGHT : DARK;
      const from = Math.round((bit * width) / ACROSS);
      for (let y = 0; y < size; y += 1) data.fill(value, y * width + from, y * width + from + size);
    }
  }
}
