/**
 * Settings that are stored, checked and shown, and whose effect nothing shows yet, with what is not there that they are
 * about. The manual says so of each.
 */
export const unproven: ReadonlyMap<string, string> = new Map()
