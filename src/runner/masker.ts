import { PatternSet } from './patterns.ts'

const mask = Buffer.from('[MASKED]')
const tokenByte = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.=') {
  tokenByte[character.charCodeAt(0)] = 1
}

interface Interval {
  start: number
  end: number
  /** Its `[MASKED]` has been given out; it may still grow. */
  shown: boolean
}

/**
 * Replaces secrets in a stream of bytes, however it is cut. Every byte that belongs to an occurrence of a value is
 * hidden, and overlapping occurrences become one `[MASKED]`; after a token prefix (which stays readable) all token
 * characters are hidden. Only bytes that may still turn out to be part of a secret are held back.
 */
export class Masker {
  readonly #patterns: PatternSet
  #state = 0
  /** Offsets count from the begin of the stream. */
  #position = 0
  #given = 0
  #held: Buffer = Buffer.alloc(0)
  #hidden: Interval[] = []
  /** Where the token being read starts, or -1. */
  #token = -1

  constructor(values: Iterable<string>, tokenPrefixes: Iterable<string> = []) {
    this.#patterns = new PatternSet(values, tokenPrefixes)
  }

  /** The part of the stream that is decided after `chunk`; may be empty. */
  write(chunk: Buffer): Buffer {
    if (this.#patterns.empty || chunk.length === 0) return chunk
    this.#scan(chunk)
    const depth = this.#patterns.depth(this.#state)
    return this.#give(
      this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]),
      this.#position - depth,
    )
  }

  /** The rest: what was held back did not become a secret. The masker then starts afresh. */
  flush(): Buffer {
    const rest = this.#give(this.#held, this.#position)
    this.#state = 0
    this.#token = -1
    this.#hidden = []
    return rest
  }

  #scan(chunk: Buffer) {
    const patterns = this.#patterns
    let state = this.#state
    let position = this.#position
    for (const byte of chunk) {
      position++
      if (this.#token >= 0) {
        if (tokenByte[byte] === 1) this.#hide(this.#token, position)
        else this.#token = -1
      }
      state = patterns.step(state, byte)
      if (state === 0) continue
      const length = patterns.longestValue(state)
      if (length > 0) this.#hide(position - length, position)
      if (this.#token < 0 && patterns.endsPrefix(state)) this.#token = position
    }
    this.#state = state
    this.#position = position
  }

  /** `end` never shrinks from call to call, so only the last intervals can overlap. */
  #hide(start: number, end: number) {
    let shown = false
    for (let last = this.#hidden.at(-1); last !== undefined && start < last.end; last = this.#hidden.at(-1)) {
      start = Math.min(start, last.start)
      shown ||= last.shown
      this.#hidden.pop()
    }
    this.#hidden.push({ start, end, shown })
  }

  /** `data` starts at `#given`; bytes before `decided` cannot become part of another occurrence. */
  #give(data: Buffer, decided: number): Buffer {
    const origin = this.#given
    const parts: Buffer[] = []
    let from = origin
    for (const interval of this.#hidden) {
      if (interval.start > decided) break
      if (!interval.shown) {
        if (interval.start > from) parts.push(data.subarray(from - origin, interval.start - origin))
        parts.push(mask)
        interval.shown = true
      }
      from = Math.max(from, interval.end)
    }
    if (decided > from) {
      parts.push(data.subarray(from - origin, decided - origin))
      from = decided
    }
    this.#hidden = this.#hidden.filter(
      ({ end }) => end > decided || (this.#token >= 0 && end === this.#position),
    )
    this.#held = Buffer.from(data.subarray(from - origin))
    this.#given = from
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }
}
