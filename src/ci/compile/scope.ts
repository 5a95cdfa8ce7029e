import type { Scope } from '../expression/evaluate.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Budget } from '../config/data.ts'
import type { Patterns } from '../text/regex.ts'
import type { CompileContext, ScopedVariable, Variable } from '../types.ts'
import { expandTexts, type Lookup } from '../variables/expand.ts'
import { variablesFor } from '../variables/scope.ts'

/** What all scopes of one compilation have in common. */
export interface Shared {
  patterns: Patterns
  /** Variables looked up for expansion. */
  expansions: Budget
  inputs: CompileContext['inputs']
}

/** Variables in layers, so that a job adds its own without copying the thousands it shares with all others. */
export class VariableScope implements Scope {
  readonly patterns: Patterns
  readonly #budget: Budget
  readonly #layers: readonly ReadonlyMap<string, Variable>[]
  readonly #inputs: CompileContext['inputs']

  /** `layers` from low to high precedence. */
  constructor(shared: Shared, layers: readonly ReadonlyMap<string, Variable>[]) {
    this.patterns = shared.patterns
    this.#budget = shared.expansions
    this.#inputs = shared.inputs
    this.#layers = layers
  }

  find(key: string): Variable | undefined {
    return this.#layers.findLast((layer) => layer.has(key))?.get(key)
  }

  variable(name: string): string | undefined {
    return this.find(name)?.value
  }

  input(name: string): string | number | boolean | null | undefined {
    return this.#inputs !== undefined && Object.hasOwn(this.#inputs, name) ? this.#inputs[name] : undefined
  }

  /** Throws a ConfigError where variables go in a circle. */
  expand(text: string): string {
    return this.expandAll([text])[0]!
  }

  expandAll(texts: readonly string[]): string[] {
    if (texts.every((text) => !/[$%]/.test(text))) return [...texts]
    return this.expandWith(texts, (key) => this.find(key))
  }

  protected expandWith(texts: readonly string[], lookup: Lookup): string[] {
    const expanded = expandTexts(texts, (key) => {
      this.#budget.spend()
      return lookup(key)
    })
    if ('error' in expanded) throw new ConfigError(expanded.error)
    return expanded.texts
  }
}

export function layer(variables: readonly Variable[]): ReadonlyMap<string, Variable> {
  return new Map(variables.map((variable) => [variable.key, variable]))
}

/** The variables given from outside, once for every environment that is asked for. */
export class GivenVariables {
  readonly #variables: readonly ScopedVariable[]
  readonly #known = new Map<string | null, ReadonlyMap<string, Variable>>()

  constructor(variables: readonly ScopedVariable[]) {
    this.#variables = variables
  }

  for(environment: string | null): ReadonlyMap<string, Variable> {
    const known = this.#known.get(environment)
    if (known !== undefined) return known
    const made = layer(variablesFor(environment, this.#variables))
    this.#known.set(environment, made)
    return made
  }
}
