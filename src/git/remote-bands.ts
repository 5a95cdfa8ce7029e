import type { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import type { Pkt } from './pkt-line.ts'
import { RemoteRefusal } from './remote-refs.ts'

/** Characters that are kept of what the other side says besides. */
const mostWords = 4096

/**
 * The data of an answer that comes in bands (gitprotocol-pack(5), side-band-64k): the first band. The second is for
 * people, and handed to `say`; the third ends everything. `first`: a line that was read already.
 */
export async function* bandOfData(
  reader: ByteReader,
  say: (words: string) => void,
  first?: Pkt,
): AsyncGenerator<Buffer, void, undefined> {
  for (
    let line = first ?? (await reader.pkt());
    line !== undefined && line !== 'flush';
    line = await reader.pkt()
  ) {
    if (typeof line === 'string') throw new GitError('protocol', 'bad mark')
    const rest = line.subarray(1)
    switch (line[0]) {
      case 1:
        yield rest
        break
      case 2:
        say(rest.toString('utf8'))
        break
      case 3:
        throw new RemoteRefusal(rest.toString('utf8').trim())
      default:
        throw new GitError('protocol', 'bad band')
    }
  }
}

/** Keeps the end of what is said. */
export class Words {
  #text = ''

  readonly add = (words: string): void => {
    this.#text = (this.#text + words).slice(-mostWords)
  }

  get text(): string {
    return this.#text.trim()
  }
}
