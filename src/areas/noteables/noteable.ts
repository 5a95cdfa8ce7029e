/** What can be discussed, by its name on the wire; the tables that all kinds share name it so. */
export type NoteableType = 'Issue' | 'MergeRequest' | 'Epic'

export interface Noteable {
  readonly type: NoteableType
  readonly id: number
}
