/** Something of an import cannot be had from the host, or not be taken; told to who asked for it. */
export class HostFault extends Error {
  /** Of the answer of the host, where there was one. */
  readonly status: number | undefined
  /** It ends the whole import. */
  readonly fatal: boolean

  constructor(message: string, { status, fatal = false }: { status?: number; fatal?: boolean } = {}) {
    super(message)
    this.name = 'HostFault'
    this.status = status
    this.fatal = fatal
  }
}

/** The host does not answer as it should, and may do so later. */
export class HostTrouble extends HostFault {}

/** The host wants to be left alone for so many seconds. */
export class HostLimit extends HostTrouble {
  readonly seconds: number

  constructor(seconds: number) {
    super('The host has been asked too often.', { status: 429 })
    this.seconds = seconds
  }
}

/** Somebody else goes on with the step, or nobody does any more; what was begun is taken back. */
export class Superseded extends Error {}
