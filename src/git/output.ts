import { Socket } from 'node:net'
import { Readable, type Writable } from 'node:stream'

/** Bytes that are read at once. */
const readSize = 64 * 1024
/** So much must be left of the memory that reads share for one more of them. */
const leastRoom = 8 * 1024

/** How the connection is read: into which memory, and what becomes of it. False: not on before `resume`. */
interface Reading {
  readonly room: () => Buffer
  readonly take: (chunk: Buffer, memory: Buffer) => boolean
}

/**
 * What a program writes. A socket by itself allocates 64 KiB for each read, of which git fills 8: with a large clone the
 * collector of garbage then has more to do than git. So reads share memory, and what is only passed on, by `sendTo`, goes
 * through the same few buffers all the time.
 */
export class Output extends Readable {
  readonly socket: Socket
  #reading: Reading

  constructor() {
    super({ highWaterMark: readSize })
    let memory = Buffer.alloc(0)
    this.#reading = {
      room: () => {
        if (memory.length < leastRoom) memory = Buffer.allocUnsafeSlow(readSize)
        return memory
      },
      take: (chunk) => {
        memory = memory.subarray(chunk.length)
        return this.push(chunk)
      },
    }
    this.socket = new Socket({
      onread: {
        buffer: () => this.#reading.room(),
        callback: (bytes, buffer) => {
          const memory = buffer as Buffer
          return this.#reading.take(memory.subarray(0, bytes), memory)
        },
      },
    })
    let ended = false
    this.socket.once('end', () => {
      ended = true
      this.push(null)
    })
    this.socket.once('error', (error) => this.destroy(error))
    // After the end there may be more here than was read yet.
    this.socket.once('close', () => {
      if (!ended) this.destroy()
    })
    this.on('error', () => undefined)
  }

  /**
   * Passes everything on, with back-pressure, and leaves `target` open. Asked for in the turn that starts the program,
   * before anything was read. Rejects when one of the two ends early.
   */
  sendTo(target: Writable): Promise<undefined> {
    const free: Buffer[] = []
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const early = (): void => {
      reject(new Error('the output was not read to its end'))
      this.destroy()
    }
    const goOn = (): void => void this.socket.resume()
    this.#reading = {
      room: () => free.pop() ?? Buffer.allocUnsafeSlow(readSize),
      take: (chunk, memory) => target.write(chunk, () => void free.push(memory)),
    }
    target.on('drain', goOn).once('close', early).once('error', early)
    this.once('end', () => resolve(undefined))
      .once('close', early)
      .resume()
    if (target.destroyed) early()
    return promise.finally(() => target.off('drain', goOn).off('close', early).off('error', early))
  }

  override _read(): void {
    this.socket.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.destroy()
    done(error)
  }
}
