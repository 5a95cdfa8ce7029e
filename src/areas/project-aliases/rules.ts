import { invalid } from '../../kernel/errors/index.ts'

const shape = /^[a-zA-Z0-9_.][a-zA-Z0-9_.-]*$/
const badEnd = /\.(?:git|atom)$/i

/** Refuses what cannot be the last part of an address, in the words of project paths (completions of part 2, 4). */
export function checkName(name: string): void {
  if (name === '') throw invalid({ name: ["can't be blank"] })
  const faults: string[] = []
  if (name.length > 255) faults.push('is too long (maximum is 255 characters)')
  if (!shape.test(name) || badEnd.test(name)) {
    faults.push(
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
    )
  }
  if (faults.length > 0) throw invalid({ name: faults })
}

export const taken = (): Error => invalid({ name: ['has already been taken'] })
