/** Why a repository elsewhere could not be reached, in words for those who look after the mirror. */
export class MirrorProblem extends Error {
  /** It may be gone when it is tried again. */
  readonly passing: boolean

  constructor(message: string, { passing = false }: { passing?: boolean } = {}) {
    super(message)
    this.passing = passing
  }
}
