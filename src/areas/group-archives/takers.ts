import { taking, type Taker } from '../project-archives/index.ts'
import * as check from './check.ts'
import * as write from './write.ts'

/** How the records of each relation of a group are taken; parents of epics once all epics are there. */
export const takers: Readonly<
  Record<'labels' | 'milestones' | 'epics' | 'epic_parents', Taker<write.Target>>
> = {
  labels: taking(check.checkGroupLabel, write.writeLabels),
  milestones: taking(check.checkGroupMilestone, write.writeMilestones),
  epics: taking(check.checkEpic, write.writeEpics),
  epic_parents: taking(check.checkEpic, write.writeParents),
}
