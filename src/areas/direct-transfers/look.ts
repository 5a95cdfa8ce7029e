import { TransferFault } from './faults.ts'
import { waiting } from './relations.ts'
import type { TransferRoom } from './services.ts'
import type { Source } from './source.ts'
import * as store from './step-store.ts'
import type { Step } from './step-store.ts'

/** The oldest version whose API has what is needed. */
const oldest = 14

/** Looks whether the source is one, finds the group or project there, and has its relations written. */
export async function look({ db }: TransferRoom, step: Step, source: Source): Promise<void> {
  const version = await source.version()
  const major = Number(/^(\d{1,4})\.\d/.exec(version)?.[1] ?? Number.NaN)
  if (!(major >= oldest)) {
    throw new TransferFault(`The source has version ${version}, and at least ${oldest}.0 is needed.`)
  }
  const place = await source.place(step.kind, step.sourceFullPath)
  await source.beginExport(step.kind, place.id)
  await db.transaction(async (tx) => {
    await store.setSource(tx, step.entityId, place.id)
    await store.addSteps(tx, step.entityId, [{ stage: 1, relation: waiting, number: 1, objects: 0 }])
    await store.finish(tx, step)
  })
}
