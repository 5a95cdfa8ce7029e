import { invalid } from '../../kernel/errors/index.ts'

export const deployScopes = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
  'read_virtual_registry',
  'write_virtual_registry',
] as const

/** A token of this name is handed to jobs (supporting resources, 3.6). */
export const jobTokenName = 'gitlab-deploy-token'

const longest = 255

export interface Wanted {
  readonly name: string
  readonly username: string | null
}

/** Refuses what no deploy token can be. */
export function check({ name, username }: Wanted): void {
  const faults: Record<string, string[]> = {}
  if (name.trim() === '') faults['name'] = ["can't be blank"]
  if (name.length > longest) faults['name'] = [`is too long (maximum is ${longest} characters)`]
  if (username !== null && (username.length > longest || !/^[\w.+-]+$/.test(username))) {
    faults['username'] = ["can contain only letters, digits, '_', '-', '+', and '.'"]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
