/** The task that finishes what creating a request began. */
export const prepareTask = 'merge-requests:prepare'
/** The task that brings a request up to date with its branches. */
export const refreshTask = 'merge-requests:refresh'
/** The task that makes the pipeline of a new head. */
export const pipelineTask = 'merge-requests:pipeline'
export const rebaseTask = 'merge-requests:rebase'
/** The task that merges what was left to merge by itself, once nothing is in the way. */
export const autoMergeTask = 'merge-requests:auto-merge'
/** The task that does what follows a merge: the source branch goes, issues are closed. */
export const afterMergeTask = 'merge-requests:after-merge'
/** The task that ends merges which a crash has left half done. */
export const settleTask = 'merge-requests:settle'
