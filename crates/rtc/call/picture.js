/** A test picture that moves: detail that an encoder cannot drop, in I420. It is cheap: rows of one large picture are copied. */
export class Picture {
  constructor(width, height) {
    // Chroma planes have half the size in each direction.
    if (width % 2 || height % 2) throw new Error('width and height are even');
    Object.assign(this, { width, height, frame: 0 });
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
    this.frame += 1;
    return { width, height, data };
  }
}
