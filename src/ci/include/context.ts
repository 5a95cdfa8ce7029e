import { layer, VariableScope, type Shared } from '../compile/scope.ts'
import { Budget } from '../config/data.ts'
import { ConfigError } from '../config/config-error.ts'
import { interpolationText, pipelineText } from '../messages.ts'
import { Patterns } from '../text/regex.ts'
import type { CompileContext, ScopedVariable } from '../types.ts'
import type { Lookup } from '../variables/expand.ts'
import { variablesFor } from '../variables/scope.ts'
import type { ComponentFacts } from './component.ts'
import type { Origin } from './asking.ts'

export interface Limits {
  /** Included files, each time they are included. */
  files: number
  /** Of all files together. */
  totalBytes: number
  /** Of one file. */
  fileBytes: number
  /** Levels of YAML within one another. */
  depth: number
}

export const standardLimits: Limits = {
  files: 150,
  totalBytes: 314_572_800,
  fileBytes: 2 * 1024 * 1024,
  depth: 100,
}

/** Who a file speaks for, and where its own includes look. */
export interface Surroundings {
  /** Null: the file belongs to no project, as those of a URL and the templates. */
  origin: Origin | null
  variables: IncludeVariables
  /** What `$[[ component.x ]]` stands for. */
  component: ComponentFacts | null
  anonymous: boolean
}

const mostExpansions = 1_000_000

/** The variables that exist before the pipeline, for include strings, their rules and `expand_vars`. */
export class IncludeVariables extends VariableScope {
  readonly #masked: string[]
  readonly #maskedKeys: Set<string>

  constructor(variables: CompileContext['variables'] | undefined) {
    const shared: Shared = {
      patterns: new Patterns(),
      expansions: new Budget(mostExpansions, pipelineText.variablesTooBig),
      inputs: undefined,
    }
    const given: readonly ScopedVariable[] = variablesFor(null, variables?.given ?? [])
    super(shared, [layer(variables?.predefined ?? []), layer(given)])
    const masked = given.filter((variable) => variable.masked === true && variable.value !== '')
    this.#masked = masked.map(({ value }) => value)
    this.#maskedKeys = new Set(masked.map(({ key }) => key))
  }

  /** With nothing in place of variables that do not exist. Throws a ConfigError where they go in a circle. */
  fill(text: string): string {
    return this.#one(text, (key) => this.find(key) ?? { key, value: '' })
  }

  /** Leaves unknown variables as they are; a masked one would end up readable in the pipeline and is refused. */
  expandUnmasked(text: string): string {
    return this.#one(text, (key) => {
      if (this.#maskedKeys.has(key)) throw new ConfigError(interpolationText.masked)
      return this.find(key)
    })
  }

  /** Hides the values of masked variables in a text for people. */
  mask(text: string): string {
    return this.#masked.reduce(
      (shown, value) => shown.replaceAll(value, () => '[MASKED]'.padEnd(value.length, 'x')),
      text,
    )
  }

  #one(text: string, lookup: Lookup): string {
    return this.expandWith([text], lookup)[0]!
  }
}
