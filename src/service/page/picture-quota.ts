/**
 * How many pictures the page is shown: so many in one minute, and so many bytes that were read and
 * are not taken yet, whatever asks for them at one time and however slowly it takes them.
 */
import { imageLimits } from '../../images/image-limits.js'
import { refusal } from '../http/refusal.js'

/** Pictures in one minute; nobody who looks at each needs more. */
export const picturesMinuteMax = 240
/** Bytes that are read, or may be before their size is known, and not taken yet. */
export const heldBytesMax = 4 * imageLimits.bytesMax
const minuteMs = 60_000

/** The place of one picture. */
export interface HeldPicture {
  /** It is known how large it is. */
  has(bytes: number): void
  /** It was taken, or nobody takes it any more; a second call does nothing. */
  end(): void
}

/** Counts the pictures of one process. */
export class PictureQuota {
  /** When those of the last minute were asked for, oldest first; monotonic, ms. */
  readonly #asked: number[] = []
  #held = 0

  /** Bytes that are held now. */
  get held(): number {
    return this.#held
  }

  /**
   * Makes room for one more; `nowMs` is monotonic. Throws `HttpRefusal` 429: `pictures_under_way`,
   * `pictures_too_many`.
   */
  begin(nowMs: number): HeldPicture {
    let bytes: number = imageLimits.bytesMax
    if (this.#held + bytes > heldBytesMax) throw refusal.picturesUnderWay()
    while ((this.#asked[0] ?? nowMs) <= nowMs - minuteMs) this.#asked.shift()
    const [oldest] = this.#asked
    if (oldest !== undefined && this.#asked.length >= picturesMinuteMax) {
      throw refusal.tooManyPictures(oldest + minuteMs - nowMs)
    }
    this.#asked.push(nowMs)
    this.#held += bytes
    const become = (now: number): void => {
      this.#held += now - bytes
      bytes = now
    }
    return { has: become, end: () => become(0) }
  }
}
