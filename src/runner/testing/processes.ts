import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether the process ends within some seconds; one that nobody has waited for yet has ended. */
export async function dies(pid: number): Promise<boolean> {
  for (let round = 0; round < 800; round++) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State: Z')
    if (/^State:\s+[ZX]/m.test(status)) return true
    await sleep(10)
  }
  return false
}
