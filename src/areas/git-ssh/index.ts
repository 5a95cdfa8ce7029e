import type { Plan } from '../../kernel/config/index.ts'
import type { Database, SharedCounts } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { AdmissionServices, TargetServices } from '../git-http/index.ts'
import { SshServer } from './server.ts'

export interface SshServices extends TargetServices {
  readonly db: Database
  readonly log: Logger
  readonly settings: Settings
  readonly counts: SharedCounts
  readonly cipher: Cipher
  readonly externalUrl: () => string
  /** Where a repository is cloned from over SSH. */
  readonly sshAddress: (fullPath: string) => string
  readonly plan: Plan
  readonly noteDownload: AdmissionServices['noteDownload']
}

/** Git over SSH. `listen`: where; undefined switches it off. `bound` is told the port, which may have been 0. */
export function gitSsh(
  services: SshServices & {
    readonly sshListen: { readonly host: string; readonly port: number } | undefined
    readonly sshBound: (port: number) => void
  },
): { start?: () => Promise<AsyncDisposable> } {
  const { sshListen, sshBound } = services
  if (sshListen === undefined) return {}
  return {
    async start() {
      const server = await SshServer.start(services, sshListen)
      sshBound(server.port)
      return server
    },
  }
}
