import { AnsiUp } from 'ansi_up'
import { tags } from '../dom.ts'

/** What runners write around the parts of a log: `section_start:1700000000:name\r`, and the like at their end. */
const sectionMark = /section_(?:start|end):\d+:[^\r\n]*\r/g

/** A log that grows, with the colours that programs give their words. */
export class LogView {
  readonly element = tags.pre({ className: 'log', tabIndex: 0 })
  readonly #decoder = new TextDecoder()
  readonly #colours = new AnsiUp()
  #size = 0
  #begun = ''

  constructor() {
    this.#colours.use_classes = true
  }

  /** Bytes that have been shown. */
  get size(): number {
    return this.#size
  }

  append(bytes: ArrayBuffer): void {
    this.#size += bytes.byteLength
    const text = this.#begun + this.#decoder.decode(bytes, { stream: true })
    // A line may come in parts, and so may what gives it its colour.
    const end = text.lastIndexOf('\n') + 1
    this.#begun = text.slice(end)
    this.#show(text.slice(0, end))
  }

  /** Nothing comes any more. */
  end(): void {
    this.#show(this.#begun + this.#decoder.decode())
    this.#begun = ''
  }

  #show(text: string): void {
    const lines = text.replace(sectionMark, '').split('\n').map(asLeft)
    this.element.insertAdjacentHTML('beforeend', this.#colours.ansi_to_html(lines.join('\n')))
  }
}

/** A line as a terminal shows it in the end: what follows a return has been written over it. */
function asLeft(line: string): string {
  const whole = line.replace(/\r$/, '')
  return whole.slice(whole.lastIndexOf('\r') + 1)
}
