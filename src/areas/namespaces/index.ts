export {
  groupNameFaults,
  groupPathFaults,
  projectNameFaults,
  projectPathFaults,
  reservedInside,
  slug,
} from './path-rules.ts'
export { claimPath, isTaken, lockTree, movePath, PathTaken, renameNamespace } from './paths.ts'
