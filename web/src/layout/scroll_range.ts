/**
 * Scrolling over more than a browser can: elements end at some ten million pixels, graphs do not.
 *
 * Short content scrolls one to one. For tall content the scroll bar stands for the whole, while
 * wheel and keys move by what they say: small steps move the content one to one, large ones (the
 * scroll bar dragged) go to the proportional place.
 */

export const MAX_HEIGHT = 8_000_000;

export class ScrollRange {
  /** Where the view is in the content, in content pixels. */
  top = 0;
  private physical = 0;

  constructor(
    private content = 0,
    private view = 0,
    private readonly limit = MAX_HEIGHT,
  ) {}

  /** Height of the element that makes the scroll bar. */
  get height(): number {
    return Math.min(this.content, this.limit);
  }

  private get maxTop(): number {
    return Math.max(0, this.content - this.view);
  }

  private get maxPhysical(): number {
    return Math.max(0, this.height - this.view);
  }

  private get compressed(): boolean {
    return this.content > this.limit;
  }

  /**
   * Content and view have another size by now; a larger or smaller text is a `scale` of all that is
   * above. Answers where the element must be scrolled to, null: it stays where it is. Lines are drawn
   * relative to the element, so both move together or not at all.
   */
  resize(content: number, view: number, scale = 1): number | null {
    const before = this.physical;
    this.content = content;
    this.view = view;
    this.top = Math.min(this.top * scale, this.maxTop);
    this.physical = this.compressed ? Math.min(before, this.maxPhysical) : this.top;
    return this.physical === before ? null : this.physical;
  }

  private proportional(top: number): number {
    return this.maxTop === 0 ? 0 : Math.round((top / this.maxTop) * this.maxPhysical);
  }

  /** The element was scrolled by the user. */
  scrolled(physical: number): void {
    if (!this.compressed) {
      this.top = Math.min(Math.max(0, physical), this.maxTop);
      this.physical = physical;
      return;
    }
    const step = physical - this.physical;
    this.physical = physical;
    if (physical <= 0) this.top = 0;
    else if (physical >= this.maxPhysical) this.top = this.maxTop;
    else if (Math.abs(step) < 3 * this.view) this.top += step;
    else this.top = (physical / this.maxPhysical) * this.maxTop;
    this.top = Math.min(Math.max(0, this.top), this.maxTop);
  }

  /** Goes to a place of the content; answers where the element must be scrolled to. */
  goTo(top: number): number {
    this.top = Math.min(Math.max(0, top), this.maxTop);
    this.physical = this.compressed ? this.proportional(this.top) : this.top;
    return this.physical;
  }

  /** Where the element should be once scrolling rests, so that the ends stay reachable. */
  settled(): number {
    return this.goTo(this.top);
  }

  /** What to add to a place in the content to get a place in the element. */
  get shift(): number {
    return this.physical - this.top;
  }
}
