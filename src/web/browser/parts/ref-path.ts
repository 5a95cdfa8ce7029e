import { Refusal } from '../api.ts'

/** A ref and a path below it, as they stand one after the other in addresses of files. */
export interface RefPath {
  readonly ref: string
  /** Empty for the root. */
  readonly path: string
}

/** More parts than this no ref is tried with. */
const longestRef = 8

/**
 * Finds out where the ref ends: both may have slashes, and no ref is the beginning of another. `look` asks for what is
 * there, and is refused where nothing is.
 */
export async function splitRefPath<T>(
  rest: string,
  look: (at: RefPath) => Promise<T>,
): Promise<RefPath & { readonly found: T }> {
  const parts = rest.split('/').filter((part) => part !== '')
  let refused = new Refusal(404, 'There is no ref in this address.')
  for (let length = 1; length <= Math.min(parts.length, longestRef); length++) {
    const at = { ref: parts.slice(0, length).join('/'), path: parts.slice(length).join('/') }
    try {
      return { ...at, found: await look(at) }
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error
      refused = error
    }
  }
  throw refused
}
