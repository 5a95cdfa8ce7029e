import { ConfigError } from '../config/config-error.ts'
import { deepMerge, isMap, newMap, type Budget, type Data, type DataMap } from '../config/data.ts'
import { readYaml, type YamlFile } from '../config/yaml.ts'
import { fileText, includeText } from '../messages.ts'
import { readHeader } from '../spec/header.ts'
import type { InputSpec } from '../spec/input-spec.ts'
import { interpolateFile } from '../spec/interpolate-file.ts'
import { together, type Asking } from './asking.ts'
import type { Limits, Surroundings } from './context.ts'
import { readIncludes, sourcesOf, type IncludeEntry, type SourceKind } from './entry.ts'
import { fetchFiles, type Fetched, type FetchOptions, type IncludeFacts } from './fetch.ts'
import { RuleAnswers } from './rules.ts'

/** Files within files. Each may include again, so this holds whatever the number of files is. */
const deepest = 500
/** Steps of the budget for a rule, which may have to look into a tree or a comparison. */
const costOfRule = 500
const headerKinds: readonly SourceKind[] = ['local', 'remote', 'project']

interface Wanted {
  entry: IncludeEntry
  fetched: Fetched
}

/** All files of one configuration: reads them, puts inputs in, and merges the included ones below. */
export class Inclusion {
  /** In the order in which they were merged. */
  readonly files: IncludeFacts[] = []
  readonly #limits: Limits
  readonly #options: FetchOptions
  readonly #budget: Budget
  readonly #rules = new RuleAnswers()
  #bytes = 0
  #depth = 0

  constructor(limits: Limits, options: FetchOptions, budget: Budget) {
    this.#limits = limits
    this.#options = options
    this.#budget = budget
  }

  /** The file that all begins with. Throws a ConfigError, as everything here. */
  *root(
    source: string,
    inputs: DataMap | null,
    around: Surroundings,
  ): Asking<{ data: DataMap; oddKeys: string[]; inputs: InputSpec[] }> {
    const file = this.#read(source)
    const specs = yield* this.#specs(file, around)
    const content = interpolateFile(file, specs, inputs, around)
    if (!isMap(content)) throw new ConfigError(fileText.notMap)
    return { data: yield* this.#merge(content, around), oddKeys: file.oddKeys, inputs: specs }
  }

  /** The map's includes, later ones over earlier ones, and its own content over all. */
  *#merge(map: DataMap, around: Surroundings): Asking<DataMap> {
    if (!('include' in map)) return map
    if (++this.#depth > deepest) throw this.#tooMany()
    let merged = newMap()
    for (const { entry, fetched } of yield* this.#wanted(map['include'], around)) {
      this.#count(fetched)
      merged = deepMerge(merged, yield* this.#included(entry, fetched), this.#budget)
    }
    this.#depth--
    const { include: _, ...own } = map
    return deepMerge(merged, own, this.#budget)
  }

  *#included({ inputs }: IncludeEntry, { content, facts, around }: Fetched): Asking<DataMap> {
    const file = this.#parsed(content, facts.location)
    const interpolated = yield* labelled(facts.location, this.#interpolated(file, inputs, around))
    if (!isMap(interpolated) || Object.keys(interpolated).length === 0) {
      throw new ConfigError(includeText.invalidYaml(facts.location))
    }
    return yield* this.#merge(interpolated, around)
  }

  *#interpolated(file: YamlFile, inputs: DataMap | null, around: Surroundings): Asking<Data> {
    return interpolateFile(file, yield* this.#specs(file, around), inputs, around)
  }

  /** The inputs that a file declares, with those of its header's includes. */
  *#specs({ header }: YamlFile, around: Surroundings): Asking<InputSpec[]> {
    if (header === null) return []
    const included: DataMap[] = []
    const { spec } = header
    const include = isMap(spec) ? spec['include'] : undefined
    for (const { fetched } of yield* this.#wanted(include, around, headerKinds)) {
      this.#count(fetched)
      const { location } = fetched.facts
      const { content } = this.#parsed(fetched.content, location)
      if (!isMap(content)) throw new ConfigError(includeText.invalidYaml(location))
      const unknown = Object.keys(content).filter((key) => key !== 'inputs')
      if (unknown.length > 0) throw new ConfigError(includeText.headerKeys(location, unknown))
      if (isMap(content['inputs'])) included.push(content['inputs'])
    }
    return readHeader(header, included)
  }

  /** The files of an `include`, fetched side by side; what rules leave out is not looked for. */
  *#wanted(include: Data | undefined, around: Surroundings, kinds?: readonly SourceKind[]): Asking<Wanted[]> {
    if (include === undefined || include === null) return []
    const entries: IncludeEntry[] = []
    for (const entry of readIncludes(include, around.variables)) {
      this.#budget.spend((entry.rules?.length ?? 0) * costOfRule)
      if (entry.rules === null || (yield* this.#rules.admit(entry.rules, around))) entries.push(entry)
      if (this.files.length + entries.length > this.#limits.files) throw this.#tooMany()
    }
    const sources = entries.flatMap((entry) =>
      sourcesOf(entry, around.variables, kinds).map((source) => ({ entry, source })),
    )
    if (this.files.length + sources.length > this.#limits.files) throw this.#tooMany()
    const outcomes = yield* together(sources.map(({ source }) => fetchFiles(source, around, this.#options)))
    return outcomes.flatMap((outcome, i) => {
      if ('error' in outcome) throw new ConfigError(outcome.error)
      return outcome.files.map((fetched) => ({ entry: sources[i]!.entry, fetched }))
    })
  }

  #count({ facts }: Fetched): void {
    if (this.files.length >= this.#limits.files) throw this.#tooMany()
    this.files.push(facts)
  }

  #tooMany(): ConfigError {
    return new ConfigError(includeText.tooMany(this.#limits.files))
  }

  #read(source: string): YamlFile {
    this.#bytes += Buffer.byteLength(source)
    if (this.#bytes > this.#limits.totalBytes) throw new ConfigError(includeText.tooBig)
    return readYaml(source, this.#limits)
  }

  #parsed(source: string, location: string): YamlFile {
    try {
      return this.#read(source)
    } catch (error) {
      const ofFile = error instanceof ConfigError && error.message !== includeText.tooBig
      throw ofFile ? new ConfigError(includeText.invalidYaml(location)) : error
    }
  }
}

/** Says in which file an error of inputs is. */
function* labelled<T>(location: string, asking: Asking<T>): Asking<T> {
  try {
    return yield* asking
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(includeText.within(location, error.message)) : error
  }
}
