export { Blobs, type Blob } from './blobs.ts'
