export type { Noteable, NoteableType } from './noteable.ts'
export { recordMilestone, recordState, recordWeight, type StateChange } from './record.ts'
export { setSubscription, subscribedTo, type Subscribable } from './subscriptions.ts'
