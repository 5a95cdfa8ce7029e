import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Neighbour } from '../git-http/index.ts'
import { Terminals, type TerminalServices } from './terminals.ts'

export { mayUseTerminal, type TerminalJob } from './admission.ts'
export { AnnouncedSession, keepSession, sessionOf, type JobSession } from './session.ts'

const place = /^\/((?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]+)\/-\/jobs\/(\d{1,15})\/terminal\.ws$/u
const longest = 2048

/** Terminals of running jobs, over WebSockets: `/group/project/-/jobs/7/terminal.ws`. */
export function terminals(services: TerminalServices): {
  /** For who answers the addresses of projects. */
  neighbour: Neighbour
  start: () => Promise<AsyncDisposable>
} {
  const open = new Terminals(services)
  return {
    neighbour(method, path) {
      const [, fullPath, id] = (path.length <= longest && place.exec(path)) || []
      if (method !== 'GET' || fullPath === undefined) return undefined
      const about = { fullPath, jobId: Number(id) }
      return (request: FastifyRequest, reply: FastifyReply) => open.open(request, reply, about)
    },
    // They are ended before the server stops, which waits for its connections.
    start: async () => open,
  }
}

/** Of a job's terminal, below the address of the service. */
export function terminalPath(fullPath: string, jobId: number): string {
  return `/${fullPath}/-/jobs/${jobId}/terminal.ws`
}
