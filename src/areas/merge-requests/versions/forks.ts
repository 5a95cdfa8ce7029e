export { bringCommits } from '../../repository/index.ts'
