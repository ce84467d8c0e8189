#!/usr/bin/python3
"""Takes pictures with OpenCV and appends them to a file until it gets none.

look.py NODE FILE WIDTH HEIGHT"""
import sys

import cv2

camera = cv2.VideoCapture(sys.argv[1], cv2.CAP_V4L2)
if not camera.isOpened():
    sys.exit("OpenCV opens no camera")
for key, value in [(cv2.CAP_PROP_FOURCC, cv2.VideoWriter_fourcc(*"YUYV")), (cv2.CAP_PROP_FRAME_WIDTH, int(sys.argv[3])),
                   (cv2.CAP_PROP_FRAME_HEIGHT, int(sys.argv[4])), (cv2.CAP_PROP_FPS, 15), (cv2.CAP_PROP_CONVERT_RGB, 0)]:
    camera.set(key, value)
with open(sys.argv[2], "wb", buffering=0) as file:
    while True:
        found, picture = camera.read()
        if not found:
            sys.exit("OpenCV gets no picture")
        file.write(picture.tobytes())
