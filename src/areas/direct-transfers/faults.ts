/** Where in the way of a record something went wrong: fetched from the source, looked at, or written here. */
export type Phase = 'extractor' | 'transformer' | 'loader'

/** A piece of a transfer cannot be had or taken; told to who asked for it. */
export class TransferFault extends Error {
  readonly phase: Phase
  /** It ends the whole entity. */
  readonly fatal: boolean

  constructor(
    message: string,
    { phase = 'extractor', fatal = false }: { phase?: Phase; fatal?: boolean } = {},
  ) {
    super(message)
    this.name = 'TransferFault'
    this.phase = phase
    this.fatal = fatal
  }
}

/** The source does not answer as it should, and may do so later. */
export class SourceTrouble extends TransferFault {}

/** Somebody else goes on with the step, or nobody does any more; what was begun is taken back. */
export class Superseded extends Error {}
