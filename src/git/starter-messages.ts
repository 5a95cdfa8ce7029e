/** What the service tells the starter: to start a program, or to end one. */
export type Order =
  | {
      readonly id: number
      readonly program: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly id: number; readonly kill: true }

/** What the starter tells the service. */
export type Report =
  | { readonly listening: true }
  | { readonly id: number; readonly started: true }
  /** The system's word for why it could not be started: `ENOENT`. */
  | { readonly id: number; readonly failed: string }
  | { readonly id: number; readonly code: number | null; readonly signal: NodeJS.Signals | null }

export type StreamNumber = 0 | 1 | 2

/** All that the starter reads of a connection: of which start it is which standard stream. */
export const streamHeader = {
  write(id: number, at: StreamNumber): Buffer {
    const header = Buffer.alloc(5)
    header.writeUInt32BE(id)
    header.writeUInt8(at, 4)
    return header
  },
  read(header: Buffer): { id: number; at: StreamNumber } {
    return { id: header.readUInt32BE(), at: header.readUInt8(4) as StreamNumber }
  },
}
