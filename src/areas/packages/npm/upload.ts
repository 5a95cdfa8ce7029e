import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { badRequest, tooLarge } from '../../../kernel/errors/index.ts'
import { parseJson } from '../../../kernel/endpoint/json-body.ts'

/** Bytes of a publication besides its tarball. */
const longestDocument = 5 * 1024 * 1024

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d]

export interface Upload<T> {
  /** The JSON that was sent, with nothing where the tarballs were. */
  readonly document: Readonly<Record<string, unknown>>
  readonly tarballs: readonly { readonly stored: T; readonly integrity: string }[]
}

const broken = (): Error => badRequest('The upload broke off')

/**
 * Reads what `npm publish` sends: JSON that holds the tarball as Base64 under `_attachments`. That text is handed to
 * `take` as the bytes it stands for, while it comes; the rest is small, and kept.
 */
export async function readUpload<T>(
  body: Readable,
  take: (content: Readable) => Promise<T>,
): Promise<Upload<T>> {
  const source = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let [chunk, at]: [Buffer, number] = [Buffer.alloc(0), 0]
  const more = async (): Promise<boolean> => {
    while (at >= chunk.length) {
      const next = await source.next().catch(() => {
        throw broken()
      })
      if (next.done === true) return false
      ;[chunk, at] = [next.value, 0]
    }
    return true
  }

  /** The bytes that the text stands for that begins here, up to the end of it. */
  async function* decoded(hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
    let rest = ''
    for (let end = -1; end === -1;) {
      if (!(await more())) throw broken()
      end = chunk.indexOf(quote, at)
      const text = rest + chunk.toString('latin1', at, end === -1 ? chunk.length : end)
      if (/[^A-Za-z0-9+/=]/.test(text)) throw badRequest('The tarball is not Base64')
      const whole = end === -1 ? text.length - (text.length % 4) : text.length
      rest = text.slice(whole)
      at = end === -1 ? chunk.length : end + 1
      const bytes = Buffer.from(text.slice(0, whole), 'base64')
      hash.update(bytes)
      yield bytes
    }
  }

  const document = new Document()
  const tarballs: Upload<T>['tarballs'][number][] = []
  while (await more()) {
    at = document.read(chunk, at)
    if (!document.atTarball) continue
    if (tarballs.length > 0) throw badRequest('There is more than one tarball')
    const hash = createHash('sha512')
    const stored = await take(Readable.from(decoded(hash), { objectMode: false }))
    tarballs.push({ stored, integrity: `sha512-${hash.digest('base64')}` })
    document.passTarball()
  }
  return { document: parseJson(document.text), tarballs }
}

/** Follows JSON far enough to know where in it a text begins; whether it is JSON is found out at the end. */
class Document {
  readonly #parts: Buffer[] = []
  #size = 0
  /** Of each object and array that is open, the key it is at. */
  readonly #keys: (string | undefined)[] = []
  readonly #objects: boolean[] = []
  #awaitsKey = false
  #inText = false
  #escaping = false
  #text = ''
  /** The next byte begins the text of a tarball. */
  atTarball = false

  get text(): Buffer {
    return Buffer.concat(this.#parts)
  }

  /** Reads on from a place in a chunk to its end, or to the beginning of a tarball; answers how far it came. */
  read(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && !this.atTarball) this.#step(chunk[at++]!)
    this.#keep(chunk.subarray(from, at))
    return at
  }

  passTarball(): void {
    this.atTarball = false
    this.#keep(Buffer.from('"'))
  }

  #keep(part: Buffer): void {
    this.#size += part.length
    if (this.#size > longestDocument) throw tooLarge()
    this.#parts.push(part)
  }

  #step(byte: number): void {
    if (this.#inText) this.#stepInText(byte)
    else if (byte === quote) this.#beginText()
    else if (byte === openObject || byte === openArray) this.#open(byte === openObject)
    else if (byte === closeObject || byte === closeArray) this.#close()
    else if (byte === comma) this.#awaitsKey = this.#objects.at(-1) === true
    else if (byte === colon) this.#awaitsKey = false
  }

  #stepInText(byte: number): void {
    if (this.#escaping) this.#escaping = false
    else if (byte === backslash) this.#escaping = true
    else if (byte === quote) {
      this.#inText = false
      if (this.#awaitsKey) this.#keys[this.#keys.length - 1] = this.#text
      return
    }
    // Only to know the few keys that matter.
    if (this.#awaitsKey && this.#text.length < 20) this.#text += String.fromCharCode(byte)
  }

  #beginText(): void {
    const [first, , third] = this.#keys
    const isData = this.#keys.length === 3 && first === '_attachments' && third === 'data'
    this.atTarball = isData && !this.#awaitsKey
    this.#inText = !this.atTarball
    this.#text = ''
  }

  #open(isObject: boolean): void {
    if (this.#keys.length > 1000) throw badRequest('The document is nested too deeply')
    this.#keys.push(undefined)
    this.#objects.push(isObject)
    this.#awaitsKey = isObject
  }

  #close(): void {
    this.#keys.pop()
    this.#objects.pop()
    this.#awaitsKey = false
  }
}
