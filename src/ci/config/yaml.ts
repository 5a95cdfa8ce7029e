import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  type Document,
  type ParsedNode,
} from 'yaml'
import { Lexer, type CollectionTag, type Pair, type Scalar, type ScalarTag, type Tags } from 'yaml'
import { LruMap } from '../../kernel/lib/lru.ts'
import { fileText, referenceText } from '../messages.ts'
import { ConfigError } from './config-error.ts'
import { Budget, checkSize, newMap, Reference, type Data, type DataMap } from './data.ts'
import { numbers } from './numbers.ts'

export interface YamlFile {
  /** The `spec:` document in front of the content, if there is one. */
  header: DataMap | null
  content: Data
  /** Keys of the content's first level that are no strings, such as the number in `10: …`. */
  oddKeys: string[]
}

export interface YamlLimits {
  fileBytes: number
  /** Levels within one another. */
  depth: number
}

const usualLimits: YamlLimits = { fileBytes: 2 * 1024 * 1024, depth: 100 }
const deepestEver = 250
const mostTokens = 600_000

/** Characters of the texts whose content is remembered: most pipelines are of files that others were of. */
const rememberedText = 1024 * 1024
const remembered = new LruMap<string, YamlFile>(rememberedText)

/**
 * Throws a ConfigError for whatever is wrong with the text, within bounded time. What it gives is shared: nobody writes
 * into it.
 */
export function readYaml(source: string, limits: YamlLimits = usualLimits): YamlFile {
  const key = `${limits.fileBytes} ${limits.depth} ${source}`
  const known = remembered.get(key)
  if (known !== undefined) return known
  const read = readAnew(source, limits)
  if (key.length <= rememberedText) remembered.set(key, read, key.length)
  return read
}

function readAnew(source: string, { fileBytes, depth }: YamlLimits): YamlFile {
  if (source.trim() === '') throw new ConfigError(fileText.empty)
  if (Buffer.byteLength(source) > fileBytes) throw new ConfigError(fileText.tooBig)
  const lines = new LineCounter()
  // Deeper than this the stack might not do.
  const deepest = Math.min(depth, deepestEver)
  const documents = compose(source, lines, deepest)
  const [first, second] = documents.map((document) => new Conversion(document, lines, deepest))
  const content = first?.content() ?? null
  const header = isHeader(content) ? content : null
  if (header === null) return { header, content, oddKeys: first?.oddKeys ?? [] }
  return { header, content: second?.content() ?? null, oddKeys: second?.oddKeys ?? [] }
}

function isHeader(content: Data): content is DataMap {
  return (
    typeof content === 'object' && content !== null && 'spec' in content && Object.keys(content).length === 1
  )
}

/** YAML 1.2 has only true and false; files of the field were written for 1.1, where these were booleans too. */
const oldBooleans: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/,
  resolve: (text) => /^(?:yes|on)$/i.test(text),
}

/** Not the numbers of YAML 1.2. */
const isOfThisReading = (tag: Tags[number]) =>
  typeof tag === 'string' || !['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float'].includes(tag.tag)
const referenceTag: CollectionTag = { tag: '!reference', collection: 'seq' }

/** At most the first two documents. Tokens are counted before they cost more. */
function compose(source: string, lines: LineCounter, deepestFlow: number): Document.Parsed[] {
  const budget = new Budget(mostTokens)
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    customTags: (tags) => [...tags.filter(isOfThisReading), ...numbers, oldBooleans, referenceTag],
    uniqueKeys: false,
    stringKeys: false,
    logLevel: 'silent',
  })
  const documents: Document.Parsed[] = []
  let flow = 0
  for (const lexeme of new Lexer().lex(source)) {
    budget.spend(lexeme[0] === '"' ? 1 + escapesIn(lexeme) : 1)
    if (lexeme === '[' || lexeme === '{') flow++
    else if (lexeme === ']' || lexeme === '}') flow--
    if (flow > deepestFlow) throw new ConfigError(fileText.tooBig)
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token))
    if (documents.length >= 2) return documents.slice(0, 2)
  }
  for (const token of parser.end()) documents.push(...composer.next(token))
  documents.push(...composer.end())
  return documents.slice(0, 2)
}

/** Each may become an error of its own, which costs more than a token. */
function escapesIn(lexeme: string): number {
  let count = 0
  for (let at = lexeme.indexOf('\\'); at !== -1; at = lexeme.indexOf('\\', at + 2)) count += 4
  return count
}

/** One document to plain data. Anchors share the value they stand for. */
class Conversion {
  readonly oddKeys: string[] = []
  readonly #document: Document.Parsed
  readonly #lines: LineCounter
  readonly #deepest: number
  readonly #anchors = new Map<string, Data>()
  readonly #budget = new Budget(mostTokens * 4)

  constructor(document: Document.Parsed, lines: LineCounter, deepest: number) {
    this.#document = document
    this.#lines = lines
    this.#deepest = deepest
  }

  content(): Data {
    const error = this.#document.errors[0]
    if (error !== undefined) {
      if (/call stack/.test(error.message)) throw new ConfigError(fileText.tooBig)
      throw this.#error(error.message, error.pos[0])
    }
    const data = this.#convert(this.#document.contents, 0)
    checkSize(data, this.#deepest)
    return data
  }

  #error(reason: string, offset: number): ConfigError {
    const { line, col } = this.#lines.linePos(offset)
    return new ConfigError(fileText.yaml(reason, line, col))
  }

  #convert(node: ParsedNode | null, depth: number): Data {
    if (node === null) return null
    if (depth > this.#deepest) throw new ConfigError(fileText.tooBig)
    if (isAlias(node)) {
      const value = this.#anchors.get(node.source)
      if (value === undefined) throw this.#error(`Unknown alias: ${node.source}`, node.range[0])
      return value
    }
    // Within itself an anchor is not known yet.
    if (node.anchor !== undefined) this.#anchors.delete(node.anchor)
    const value = this.#valueOf(node, depth)
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, value)
    return value
  }

  #valueOf(node: ParsedNode, depth: number): Data {
    if (isMap(node)) {
      const map = this.#map(node.items, depth)
      if (node.tag === '!reference') throw malformed(map)
      return map
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#convert(item as ParsedNode | null, depth + 1))
      if (node.tag !== '!reference') return items
      const path = items.filter((item) => typeof item === 'string')
      if (path.length === 0 || path.length !== items.length) throw malformed(items)
      return new Reference(path)
    }
    if (!isScalar(node)) return null
    if (node.tag === '!reference') throw malformed(node.source)
    return scalar(node)
  }

  #map(pairs: Pair<ParsedNode, ParsedNode | null>[], depth: number): DataMap {
    const own = newMap()
    const merged: DataMap[] = []
    for (const { key, value } of pairs) {
      const data = this.#convert(value, depth + 1)
      if (isScalar(key) && key.value === '<<' && key.type === 'PLAIN') merged.push(...this.#merged(data, key))
      else own[this.#key(key, depth)] = data
    }
    if (merged.length === 0) return own
    // Own keys win over merged ones, earlier merged maps over later ones.
    const all = newMap()
    for (const map of [...merged.reverse(), own]) {
      const keys = Object.keys(map)
      this.#budget.spend(keys.length)
      for (const key of keys) all[key] = map[key]!
    }
    return all
  }

  #merged(data: Data, key: Scalar.Parsed): DataMap[] {
    const maps = Array.isArray(data) ? data : [data]
    this.#budget.spend(maps.length)
    return maps.map((map) => {
      if (typeof map === 'object' && map !== null && !Array.isArray(map) && !(map instanceof Reference))
        return map
      throw this.#error('merge key << needs a map or a list of maps', key.range[0])
    })
  }

  #key(node: ParsedNode, depth: number): string {
    const data = this.#convert(node, depth + 1)
    if (typeof data === 'object' && data !== null)
      throw this.#error('a key should be a scalar', node.range[0])
    const key =
      data === null
        ? ''
        : isScalar(node) && node.type === 'PLAIN' && symbol.test(node.source)
          ? node.source.slice(1)
          : String(data)
    if (depth === 0 && typeof data !== 'string' && data !== null) this.oddKeys.push(key)
    return key
  }
}

/** `:script`, which files may say for `script`: it is a name in the language that first read them. */
const symbol = /^:[A-Za-z_]\w*$/

function malformed(written: Data): ConfigError {
  return new ConfigError(referenceText.malformed(written))
}

function scalar({ value, source }: Scalar.Parsed): Data {
  const isPlain =
    value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
  return isPlain ? value : source
}
