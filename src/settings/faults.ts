import { invalid, invalidParameters } from '../kernel/errors/index.ts'

export const blank = "can't be blank"

/**
 * What is wrong with a change. What breaks the form of a parameter is told alone, as `{"error": ...}`; only values of
 * the right form are held against the rules, `{"message": {...}}` (completions of part 3, section 4).
 */
export class Faults {
  readonly #parameters: string[] = []
  readonly #rules: Record<string, string[]> = {}

  parameter(text: string): void {
    if (!this.#parameters.includes(text)) this.#parameters.push(text)
  }

  rule(attribute: string, text: string): void {
    const texts = (this.#rules[attribute] ??= [])
    // What was refused is not missing as well.
    if (texts.length > 0 && text === blank) return
    if (!texts.includes(text)) texts.push(text)
  }

  throwIfAny(): void {
    if (this.#parameters.length > 0) throw invalidParameters(this.#parameters)
    if (Object.keys(this.#rules).length > 0) throw invalid(this.#rules)
  }
}
