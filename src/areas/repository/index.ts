export { RefDoor, type DoorProject, type DoorRules, type Mover, type PushEvent } from './door.ts'
export { RepositoryPlaces } from './places.ts'
