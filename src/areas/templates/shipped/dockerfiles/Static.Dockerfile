# Files that are served as they are. Change `public` to the folder that holds them.
FROM nginx:stable
COPY public /usr/share/nginx/html
