import { SaxesParser, type SaxesTagPlain } from 'saxes'

export type CaseStatus = 'success' | 'failed' | 'error' | 'skipped'

export interface TestCase {
  readonly status: CaseStatus
  readonly name: string
  readonly classname: string | null
  readonly file: string | null
  /** Seconds. */
  readonly time: number
  /** Why it did not succeed, with what it printed. */
  readonly output: string | null
  /** Path of an artifact that shows more. */
  readonly attachment: string | null
}

export interface ParsedReport {
  readonly cases: readonly TestCase[]
  /** Seconds. */
  readonly time: number
}

/** Bounds of one report: its bytes, cases, characters of output kept, and how deep its elements may lie. */
export interface ReportLimits {
  readonly bytes: number
  readonly cases: number
  readonly output: number
  readonly depth: number
}

export const reportLimits: ReportLimits = {
  bytes: 100 * 1024 * 1024,
  cases: 100_000,
  output: 32 * 1024 * 1024,
  depth: 100,
}

/** A report that cannot be read; the text is shown as the error of its suite. */
export class ReportError extends Error {}

const badXml = (text: string): ReportError => new ReportError(`JUnit XML parsing failed: ${text}`)
const tooMuch = (what: string, limit: number): ReportError =>
  new ReportError(`JUnit data parsing failed: ${what} exceeded the limit of ${limit}`)

/** What is being gathered of the case whose element is open. */
interface OpenCase {
  readonly attributes: Readonly<Record<string, string>>
  status: CaseStatus
  reason: string
  out: string
  err: string
}

const outcomes: Readonly<Record<string, CaseStatus>> = {
  failure: 'failed',
  error: 'error',
  skipped: 'skipped',
}
/** A failure is told even where an error or a skip is, too. */
const precedence: readonly CaseStatus[] = ['failed', 'error', 'skipped', 'success']

/**
 * Reads the files of one JUnit report as they stream in. Entities are never expanded: the parser knows the five of XML
 * itself and refuses all others. Of cases with the same name and class the first counts.
 */
export class JunitReader {
  readonly #limits: ReportLimits
  readonly #cases: TestCase[] = []
  readonly #seen = new Set<string>()
  #bytes = 0
  #output = 0
  #time = 0

  constructor(limits: ReportLimits = reportLimits) {
    this.#limits = limits
  }

  get result(): ParsedReport {
    return { cases: this.#cases, time: this.#time }
  }

  /** One file of the report. */
  async read(content: AsyncIterable<Buffer>): Promise<void> {
    const file = new FileReader(this.#limits, (found) => this.#take(found))
    const decoder = new TextDecoder()
    for await (const chunk of content) {
      this.#bytes += chunk.length
      if (this.#bytes > this.#limits.bytes) throw tooMuch('size in bytes', this.#limits.bytes)
      file.write(decoder.decode(chunk, { stream: true }))
    }
    file.write(decoder.decode())
    this.#time += file.end()
  }

  #take(found: TestCase): void {
    this.#output += found.output?.length ?? 0
    if (this.#output > this.#limits.output) throw tooMuch('characters of output', this.#limits.output)
    const key = JSON.stringify([found.classname, found.name])
    if (this.#seen.has(key)) return
    if (this.#cases.length >= this.#limits.cases) throw tooMuch('number of test cases', this.#limits.cases)
    this.#seen.add(key)
    this.#cases.push(found)
  }
}

class FileReader {
  readonly #parser = new SaxesParser()
  readonly #limits: ReportLimits
  readonly #take: (found: TestCase) => void
  readonly #open: string[] = []
  #case: OpenCase | undefined
  /** Of the element inside the case that is open: its attribute, and its text so far. */
  #message = ''
  readonly #texts: string[] = []
  #ofSuites: number | undefined
  #ofEachSuite: number | undefined
  #ofCases = 0

  constructor(limits: ReportLimits, take: (found: TestCase) => void) {
    this.#limits = limits
    this.#take = take
    this.#parser.on('error', (error) => {
      throw badXml(error.message)
    })
    this.#parser.on('opentag', (tag) => this.#opened(tag))
    this.#parser.on('closetag', (tag) => this.#closed(tag.name))
    this.#parser.on('text', (text) => this.#said(text))
    this.#parser.on('cdata', (text) => this.#said(text))
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  /** Seconds that the whole file took. */
  end(): number {
    this.#parser.close()
    return this.#ofSuites ?? this.#ofEachSuite ?? this.#ofCases
  }

  #opened({ name, attributes }: SaxesTagPlain): void {
    const around = this.#open.at(-1)
    this.#open.push(name)
    if (this.#open.length > this.#limits.depth) throw tooMuch('depth of elements', this.#limits.depth)
    if (this.#case !== undefined) {
      if (around === 'testcase') {
        this.#message = attributes['message'] ?? ''
        this.#texts.length = 0
      }
    } else if (name === 'testcase') {
      this.#case = { attributes, status: 'success', reason: '', out: '', err: '' }
    } else if (name === 'testsuites' && around === undefined) {
      this.#ofSuites = seconds(attributes['time'])
    } else if (name === 'testsuite' && around !== 'testsuite') {
      const time = seconds(attributes['time'])
      if (time !== undefined) this.#ofEachSuite = (this.#ofEachSuite ?? 0) + time
    }
  }

  #said(text: string): void {
    if (this.#case !== undefined && this.#open.at(-1) !== 'testcase') this.#texts.push(text)
  }

  #closed(name: string): void {
    this.#open.pop()
    const open = this.#case
    if (open === undefined) return
    if (this.#open.at(-1) === 'testcase') {
      const text = this.#texts.join('')
      this.#texts.length = 0
      const outcome = Object.hasOwn(outcomes, name) ? outcomes[name] : undefined
      if (outcome !== undefined) {
        if (precedence.indexOf(outcome) < precedence.indexOf(open.status)) {
          open.status = outcome
          open.reason = text.trim() === '' ? this.#message : text
        }
      } else if (name === 'system-out') open.out += text
      else if (name === 'system-err') open.err += text
    } else if (name === 'testcase') {
      this.#case = undefined
      const found = caseOf(open)
      this.#ofCases += found.time
      this.#take(found)
    }
  }
}

function caseOf({ attributes, status, reason, out, err }: OpenCase): TestCase {
  const parts = [
    ...(reason === '' ? [] : [reason]),
    ...(out === '' ? [] : [`System Out:\n\n${out}`]),
    ...(err === '' ? [] : [`System Err:\n\n${err}`]),
  ]
  return {
    status,
    name: attributes['name'] ?? '(No name)',
    classname: attributes['classname'] ?? null,
    file: attributes['file'] ?? null,
    time: seconds(attributes['time']) ?? 0,
    output: status === 'success' || parts.length === 0 ? null : parts.join('\n\n'),
    attachment: /\[\[ATTACHMENT\|(.+?)\]\]/.exec(out)?.[1] ?? null,
  }
}

/** Of an attribute `time`; some tools group thousands. */
function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text.replaceAll(',', ''))
  return Number.isFinite(number) && text.trim() !== '' ? number : undefined
}
