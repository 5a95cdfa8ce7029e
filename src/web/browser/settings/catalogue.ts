import { endpoint } from '../here.ts'
import type { Schema } from '../schema.ts'

// What the API answers of the settings, as far as the page shows it.

export const settingsAt = endpoint`/application/settings`

export interface Setting {
  readonly name: string
  readonly section: string
  readonly about: string
  readonly schema: Schema
  readonly default: unknown
  readonly plan: string | null
  readonly included: boolean
  readonly secret: boolean
  readonly recorded: boolean
  /** What has to be sent along when it is turned on, stored or not. */
  readonly companions: readonly string[]
  readonly needs: string | null
}

export interface Changed {
  readonly name: string
  readonly from: unknown
  readonly to: unknown
  readonly secret?: boolean
}

export interface Foreseen extends Changed {
  readonly effect: string
  readonly warning?: string
}

export interface Revision {
  readonly id: number
  readonly created_at: string
  readonly user: { readonly name: string } | null
  /** The revision whose state this one brought back. */
  readonly restores: number | null
  readonly changes: readonly Changed[]
}

/** Settings with what is wrong with them; `{"error": "a is invalid, b is missing"}` names them in its text. */
export function faultsOf(answer: unknown): Map<string, string> {
  const { message, error } = (answer ?? {}) as { readonly message?: unknown; readonly error?: unknown }
  if (typeof error === 'string') {
    return new Map(
      error.split(', ').map((fault) => {
        const [name, ...words] = fault.split(' ')
        return [name!, words.join(' ')]
      }),
    )
  }
  if (typeof message !== 'object' || message === null) return new Map()
  return new Map(Object.entries(message).map(([name, faults]) => [name, [faults].flat().join('; ')]))
}

export function valueText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
