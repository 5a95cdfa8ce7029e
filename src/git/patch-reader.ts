import { changeOf, type ChangedPath } from './diffs.ts'

interface Section {
  text: string
  lines: number
  tooLarge: boolean
}

const nul = 0
const newline = 0x0a
const heading = Buffer.from('diff --git ')

/**
 * Takes apart what `git diff-tree -z --raw -p` says: first all changed paths, then a patch for each. Holds no more of
 * a patch than its limit, however long its lines are.
 */
export class PatchReader {
  /** Undefined until all of them were read; they come before the first patch. */
  paths: readonly ChangedPath[] | undefined
  /** The patches in the order of the paths; a change of type has two. */
  readonly sections: Section[] = []
  readonly #limit: number
  readonly #fields: string[] = []
  readonly #found: ChangedPath[] = []
  #line: Buffer[] = []
  #lineLength = 0
  #inBody = false
  #body: Buffer[] = []
  #bodyLength = 0

  constructor(patchBytes: number) {
    this.#limit = patchBytes
  }

  feed(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      const end = chunk.indexOf(this.paths === undefined ? nul : newline, at)
      if (end < 0) {
        this.#keep(chunk.subarray(at))
        return
      }
      this.#keep(chunk.subarray(at, end))
      at = end + 1
      if (this.paths === undefined) this.#field()
      else this.#endOfLine()
    }
  }

  end(): void {
    if (this.paths === undefined) {
      this.paths = this.#found
      return
    }
    if (this.#lineLength > 0) this.#endOfLine()
    this.#endOfSection()
  }

  #keep(part: Buffer): void {
    this.#lineLength += part.length
    // Of a line that is too long only its beginning is looked at.
    if (this.#lineLength - part.length <= this.#limit || this.paths === undefined) this.#line.push(part)
  }

  #take(): { line: Buffer; length: number } {
    const taken = {
      line: this.#line.length === 1 ? this.#line[0]! : Buffer.concat(this.#line),
      length: this.#lineLength,
    }
    this.#line = []
    this.#lineLength = 0
    return taken
  }

  /** `:oldMode newMode oldOid newOid S`, then one path, or two for a rename; an empty field ends the list. */
  #field(): void {
    const text = this.#take().line.toString()
    if (text === '' && this.#fields.length === 0) {
      this.paths = this.#found
      return
    }
    this.#fields.push(text)
    const [facts = '', oldPath, path] = this.#fields
    const renamed = / [RC]\d*$/.test(facts)
    if (oldPath === undefined || (renamed && path === undefined)) return
    this.#found.push(changeOf(facts, oldPath, path ?? oldPath))
    this.#fields.length = 0
  }

  #endOfLine(): void {
    const { line, length } = this.#take()
    if (line.subarray(0, heading.length).equals(heading)) {
      this.#endOfSection()
      this.sections.push({ text: '', lines: 0, tooLarge: false })
      return
    }
    const section = this.sections.at(-1)
    if (section === undefined) return
    const mark = line.toString('latin1', 0, 13)
    this.#inBody ||= mark.startsWith('@@ ') || mark === 'Binary files '
    if (!this.#inBody) return
    section.lines += 1
    this.#bodyLength += length + 1
    if (this.#bodyLength > this.#limit) {
      section.tooLarge = true
      this.#body = []
    } else {
      this.#body.push(line)
    }
  }

  #endOfSection(): void {
    const section = this.sections.at(-1)
    if (section !== undefined && this.#body.length > 0) {
      section.text = this.#body.map((line) => `${line.toString()}\n`).join('')
    }
    this.#inBody = false
    this.#body = []
    this.#bodyLength = 0
  }
}
