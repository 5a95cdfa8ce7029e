export { mentionsIn, spokenLines, type Mentions } from './mentions.ts'
export { reactedTo } from './reactions.ts'
export { isFound, matching, rankOf, type Found } from './search.ts'
export { parseDuration, writeDuration } from './duration.ts'
export type { Noteable, NoteableType } from './noteable.ts'
export { recordMilestone, recordState, recordWeight, type StateChange } from './record.ts'
export { setSubscription, subscribedTo, type Subscribable } from './subscriptions.ts'
export { changedTasks, countTasks, type TaskCounts } from './tasks.ts'
export { resetSpentTime, setTimeEstimate, spendTime, type Spent } from './time.ts'
export { inGroup, inProject, type Owner, type Place, type PlaceKind } from './places.ts'
export { afterTransfers, type MovedPlace } from './transfers.ts'
export {
  addLink,
  findLink,
  linkColumns,
  linkEnds,
  LinkFields,
  linkTypes,
  removeLink,
  type LinkFieldsRow,
  type LinkRow,
} from './links.ts'
